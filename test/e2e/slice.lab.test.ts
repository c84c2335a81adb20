import { kubectl } from '../../lab/kubectl.ts';
import { labStage } from './lab.ts';
import { sliceStories } from './slice.stories.ts';

for (const release of (process.env.LAB_RELEASES ?? '2025.2').split(',')) {
  const namespace = `slice-${release.replace('.', '-')}`;
  sliceStories(() => labStage(namespace), {
    release,
    rest: Number(process.env.REST ?? 600),
    cycles: Number(process.env.CYCLES ?? 3),
    enforce: async restricted => {
      const label = `pod-security.kubernetes.io/enforce${restricted ? '=restricted' : '-'}`;
      await kubectl(['label', '--overwrite', 'namespace', namespace, label]);
    },
  });
}
