import { describe, expect, it } from 'vitest';
import { why } from '../../src/cli/commands/why.ts';
import { readCluster } from '../../src/cli/source/source.ts';
import { type View, viewOf } from '../../src/insight/view/view.ts';
import type { Transport } from '../../src/kube/transport.ts';
import { type Cloud, NS } from './cloud.ts';
import { inOtherWords, sameBut } from './reworded.ts';
import { BREAKAGES } from './stranger.ts';

/** The part of `-o json` that a person reads. */
interface Cause {
  readonly reason: string;
  readonly what: string;
  readonly who: string;
  readonly next: string;
  readonly command: string;
  readonly afterwards: readonly string[];
  readonly chain: readonly { readonly what: string; readonly says: string }[];
  readonly consequences: readonly string[];
}

/** As at a cluster: through the API server, with what the command reads of it and no more. */
async function ask(cloud: Cloud): Promise<{ causes: readonly Cause[]; text: string }> {
  const date = new Date(cloud.sim.clock.wall()).toUTCString();
  const transport: Transport = {
    async send(request) {
      const answer = cloud.store.handle(request, 'admin');
      return { ...answer, headers: { ...answer.headers, date } };
    },
    watch: () => Promise.reject(new Error('why asks once')),
  };
  const snapshot = await readCluster(transport, NS, 'look', 'the embedded world');
  const answer = await why({
    args: [],
    flags: { output: 'table' },
    snapshot: async () => snapshot,
    say: () => {},
  });
  const text = answer.text({ width: 118, paint: (_style, said) => said });
  return { causes: (answer.data as { causes: Cause[] }).causes, text };
}

const viewOfCloud = (cloud: Cloud): View => viewOf(cloud.store.objects(), cloud.sim.clock.wall());

const TWENTY_MINUTES = 1_200_000;

describe('why, asked by a stranger', () => {
  it.each(BREAKAGES.map(breakage => [breakage.what, breakage] as const))(
    '%s',
    async (_what, { happen, told }) => {
      const [plain, other] = await inOtherWords(async () => {
        const story = await happen();
        await story.cloud.sim.run(TWENTY_MINUTES);
        return story;
      });
      sameBut(viewOfCloud(plain.cloud), viewOfCloud(other.cloud));
      const { cloud, names = [] } = plain;
      const { causes, text } = await ask(cloud);
      if (process.env.SHOW) console.log(text);
      const [cause] = causes;
      expect(causes.length, `one cause, and all else its consequence:\n${text}`).toBe(1);
      const said = [cause!.what, cause!.next, ...cause!.chain.flatMap(link => [link.what, link.says])].join('\n');
      for (const pattern of told.says) expect(said, text).toMatch(pattern);
      for (const name of names) expect(said, text).toContain(name);
      expect(told.who, text).toContain(cause!.who);
      expect([cause!.command, ...cause!.afterwards].join('\n'), text).toMatch(told.type);
      // To be typed as it stands.
      expect(cause!.command, text).toMatch(/^kubectl [^<]*$/);
      expect(cause!.consequences.join('\n'), text).toMatch(told.hence);
    },
    240_000,
  );
});
