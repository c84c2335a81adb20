import { labStage } from './lab.ts';
import { whyStories } from './why.stories.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
whyStories(() => labStage(`why-${release.replace('.', '-')}`), release);
