import { embeddedStage } from './embedded.ts';
import { sliceStories } from './slice.stories.ts';

sliceStories(embeddedStage, { release: '2025.2', rest: 3600, cycles: 3 });
