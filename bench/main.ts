import { loadavg } from 'node:os';
import { bundle } from './child.ts';
import { sliceCost, storeSpeed } from './embedded.ts';
import { type Figure, table, write } from './figures.ts';
import { idle } from './idle.ts';
import { loaded } from './loaded.ts';
import { pageSize } from './page.ts';
import { statusTime } from './status.ts';

/**
 * Figures for docs/performance.md. `--quick`: small loads and 30 s of rest, to see that it works.
 * `--only=idle,loaded,store,slice,page,status`: a part. A figure that misses its aim makes the exit code 1.
 */
const quick = process.argv.includes('--quick');
const only = process.argv
  .find(arg => arg.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');

const parts: Record<string, () => Promise<Figure[]> | Figure[]> = {
  page: () => pageSize(),
  store: () => storeSpeed(quick ? 5_000 : 50_000),
  slice: () => sliceCost(),
  status: () => statusTime(quick ? 100 : 1_000),
  idle: () => idle(quick ? 30 : 300),
  loaded: () =>
    loaded(quick ? { objects: 100, pods: 500, secrets: 1_000 } : { objects: 1_000, pods: 5_000, secrets: 10_000 }),
};

const load = loadavg()[0] ?? 0;
const figures: Figure[] = [];
await bundle();
for (const [name, run] of Object.entries(parts)) {
  if (only && !only.includes(name)) continue;
  const found = await run();
  figures.push(...found);
  console.log(table(found));
}
const command = ['make bench', ...(process.argv.length > 2 ? [`ARGS="${process.argv.slice(2).join(' ')}"`] : [])].join(
  ' ',
);
write(only || quick ? 'dist/bench.partial.json' : 'bench/results.json', figures, command, load);
process.exit(figures.some(f => f.aim !== undefined && f.value > f.aim) ? 1 : 0);
