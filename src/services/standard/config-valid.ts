import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { type ConfigFile, overwrittenFiles, overwrittenStart, START, userFiles } from '../config/config.ts';
import { type PodBlock, withoutKolla } from '../pods/pod.ts';
import type { Workload } from '../pods/workload.ts';

/** What the user wrote about one component. */
export interface Custom {
  readonly files: readonly ConfigFile[];
  readonly start: string | undefined;
}

interface Configured<O extends Managed> {
  readonly name: string;
  /** Names for spec.defaultConfigOverwrite. */
  readonly overwrites?: readonly string[] | undefined;
  /** It reads oslo's files, so the user's text is one of them. */
  readonly oslo: boolean;
  /** By component, the main one first. */
  readonly pods: (cx: Cx<O>) => readonly (readonly [string, Pick<Workload<never>, 'template' | 'direct'>])[];
}

/** ConfigValid: the user's own text and files, which nothing else waits for before they can be read. */
export const configValidRow = <O extends Managed>({ name, overwrites = ['policy.yaml'], oslo, pods }: Configured<O>) =>
  rowsOf<O>()('ConfigValid', {
    run: async cx => {
      const allowed = [...overwrites, START];
      const found: Record<string, Custom> = {};
      const all = pods(cx);
      for (const [index, [component, { template, direct }]] of all.entries()) {
        const files = [
          ...(oslo ? await userFiles(cx, name, template) : []),
          ...overwrittenFiles(cx, name, allowed, template),
        ];
        const peers = all.filter(([, other]) => template !== undefined && other.template === template).length;
        const without =
          withoutKolla((cx.spec as unknown as PodBlock).podProfile, direct) ??
          (peers > 1 ? `spec.${template} is about containers with different commands` : undefined);
        found[component] = { files, start: overwrittenStart(cx, { template, main: index === 0, without }) };
      }
      return found;
    },
  });
