import { labStage } from './lab.ts';
import { sliceStories } from './slice.stories.ts';

const releases = (process.env.LAB_RELEASES ?? '2025.2').split(',');
for (const release of releases)
  sliceStories(() => labStage(`slice-${release.replace('.', '-')}`), {
    release,
    rest: Number(process.env.REST ?? 600),
    cycles: Number(process.env.CYCLES ?? 3),
  });
