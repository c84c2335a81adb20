import { canonical, stable } from './compare.ts';
import type { Json } from './generate.ts';
import type { Answer, Oracle, Request } from './oracle.ts';

interface Difference {
  request: Request;
  theirs: Answer;
  ours: Answer;
}

/** Tries bound the time of a report, not its truth. */
const MAX_TRIES = 4000;

/** Takes parts out of the live object and the body as long as the two still answer differently. */
export async function minimise(request: Request, oracle: Oracle, ask: (r: Request) => Answer): Promise<Difference> {
  let best: Difference = { request, theirs: await oracle.ask(request), ours: ask(request) };
  let tries = 0;
  for (let progress = true; progress; ) {
    progress = false;
    for (const side of ['new', 'live'] as const) {
      for (const path of pathsOf(best.request[side])) {
        if (++tries > MAX_TRIES) return best;
        const smaller = { ...best.request, [side]: without(best.request[side], path) } as Request;
        const theirs = await oracle.ask(smaller);
        const mine = ask(smaller);
        if (canonical(theirs) === canonical(mine)) continue;
        best = { request: smaller, theirs, ours: mine };
        progress = true;
        break;
      }
    }
  }
  return best;
}

/** Without these it is no object. */
const FIXED = ['apiVersion', 'kind', 'metadata', 'name'];

/** Large parts first. */
function pathsOf(value: unknown, prefix: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? value.map((_, i) => i) : Object.keys(value);
  const here = keys.map(key => [...prefix, key]).filter(path => !FIXED.includes(String(path.at(-1))));
  return [...here, ...keys.flatMap(key => pathsOf((value as Json)[key], [...prefix, key]))];
}

function without(value: unknown, [first, ...rest]: (string | number)[]): unknown {
  if (Array.isArray(value))
    return rest.length === 0
      ? value.filter((_, i) => i !== first)
      : value.map((item, i) => (i === first ? without(item, rest) : item));
  const out = { ...(value as Json) };
  if (rest.length === 0) delete out[first!];
  else out[first!] = without(out[first!], rest);
  return out;
}

export function show({ request, theirs, ours }: Difference): void {
  console.log(`request ${JSON.stringify(request, null, 1)}`);
  console.log(`upstream ${stable(theirs.object ?? theirs.error)}`);
  console.log(`ours     ${stable(ours.object ?? ours.error)}`);
}
