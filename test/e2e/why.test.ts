import { embeddedStage } from './embedded.ts';
import { whyStories } from './why.stories.ts';

whyStories(embeddedStage, '2025.2');
