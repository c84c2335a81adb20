import { embeddedStage } from './embedded.ts';
import { planStories } from './plan.stories.ts';

planStories(embeddedStage, '2025.2');
