import { labStage } from './lab.ts';
import { planStories } from './plan.stories.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
planStories(() => labStage(`plan-${release.replace('.', '-')}`, 'kubectl'), release);
