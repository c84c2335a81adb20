import { readFileSync, writeFileSync } from 'node:fs';
import { record } from '../../evidence/entries.ts';
import { commitOf, hashing } from '../../evidence/hash.ts';
import { seededRandom } from '../../src/embedded/sim/random.ts';
import { createStore } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { accepted } from './accepted.ts';
import { startApiServer } from './apiserver.ts';
import { differences, normaliseEvents, normaliseResponse } from './compare.ts';
import { Journal } from './record.ts';
import { replay } from './replay.ts';
import { script } from './script/all.ts';
import { areas, type Build, type Memory, type Step } from './script.ts';
import { recordSlice } from './story.ts';
import { realSide, type Side, sleep, storeSide } from './wire.ts';

/**
 * Sends every step of the script to a real kube-apiserver and to the Store, and compares the answers.
 * Exits 1 on a difference that `accepted.ts` does not explain. `--only apply` runs the steps of some areas.
 */

interface Player {
  readonly side: Side;
  readonly memory: Map<string, unknown>;
}

const memoryOf = (player: Player): Memory => ({
  of(key) {
    const found = player.memory.get(key);
    if (!found) throw new Error(`no step ${key} before this one answered with an object`);
    return found as AnyObject;
  },
});

const built = (player: Player, build: Build) => (typeof build === 'function' ? build(memoryOf(player)) : build);

async function play(player: Player, step: Step): Promise<unknown> {
  const request = built(player, step.request);
  if (step.watch) {
    const during = async () => {
      for (const build of step.watch!.during) {
        const answer = await player.side.send(built(player, build));
        remember(player, built(player, build).path, answer.body);
      }
    };
    const events = await player.side.watch(request, step.watch.count, during);
    return Array.isArray(events) ? normaliseEvents(events) : normaliseResponse(events);
  }
  let answer = await player.side.send(request);
  for (let i = 0; step.until && !step.until(answer) && i < 100; i++) {
    await sleep(50);
    answer = await player.side.send(request);
  }
  remember(player, step.name, answer.body);
  remember(player, request.path, answer.body);
  return normaliseResponse(answer);
}

function remember(player: Player, key: string, body: unknown): void {
  if (typeof body === 'object' && body !== null && 'metadata' in body && (body as AnyObject).kind !== 'Status')
    player.memory.set(key, body);
}

/** What was counted, for the record. */
const figures: Record<string, number> = {};

/** The script. */
async function compareScript(only: readonly string[] | undefined): Promise<number> {
  const steps = script.filter(s => !only || only.includes(s.area) || s.quiet);
  const server = await startApiServer();
  const clock = { now: () => performance.now(), wall: () => Date.now(), timer: () => () => {} };
  const players: [Player, Player] = [
    { side: realSide(server, server.token('admin')), memory: new Map() },
    { side: storeSide(createStore({ clock, random: seededRandom(1) })), memory: new Map() },
  ];
  const tally = new Map(areas.map(a => [a, { asked: 0, alike: 0, errors: 0, explained: 0 }]));
  let unexplained = 0;
  try {
    for (const step of steps) {
      const real = await play(players[0], step);
      const store = await play(players[1], step);
      if (step.quiet) continue;
      const score = tally.get(step.area)!;
      score.asked++;
      const status = (real as { status?: number }).status ?? 200;
      if (status >= 400) score.errors++;
      const found = differences(real, store);
      if (found.length === 0) {
        score.alike++;
        continue;
      }
      const reason = accepted[step.name];
      if (reason) score.explained++;
      else unexplained++;
      const request = typeof step.request === 'function' ? '' : `${step.request.method} ${step.request.path}`;
      console.log(`${step.name}: ${request}${reason ? ` (accepted: ${reason})` : ''}`);
      for (const line of found) console.log(`  ${line}`);
    }
  } finally {
    for (const player of players) player.side.close();
    await server.stop();
  }
  for (const [area, s] of tally) {
    if (s.asked === 0) continue;
    figures[`${area}, steps`] = s.asked;
    figures[`${area}, alike`] = s.alike;
    const share = ((100 * s.alike) / s.asked).toFixed(1);
    console.log(
      `${area.padEnd(7)} ${String(s.alike).padStart(3)} of ${s.asked} alike (${share} %), ${s.errors} errors, ${s.explained} differences accepted`,
    );
  }
  return unexplained;
}

/** Every distinct request of the operator and the pretenders while the slice is deployed, edited, broken and deleted. */
async function compareJournal(file: string | undefined, keep: string | undefined): Promise<number> {
  const journal = file ? Journal.parse(readFileSync(file, 'utf8')) : await recordSlice();
  if (keep) writeFileSync(keep, journal.toString());
  const result = replay(journal);
  for (const { shape, lines } of result.differing) {
    console.log(shape);
    for (const line of lines.slice(0, 12)) console.log(`  ${line}`);
    if (lines.length > 12) console.log(`  ... and ${lines.length - 12} more`);
  }
  Object.assign(figures, { 'replay, distinct requests': result.shapes, 'replay, alike': result.alike });
  const share = ((100 * result.alike) / result.shapes).toFixed(1);
  console.log(
    `replay  ${result.alike} of ${result.shapes} distinct requests alike (${share} %), ${result.requests} requests`,
  );
  return result.differing.length;
}

const option = (name: string) =>
  process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined;

/** `--only apply,patch`: some areas of the script; `--only replay`: the journal alone. `--journal` reads one, `--keep` writes it. */
async function main(): Promise<void> {
  const only = option('--only')?.split(',');
  const scripted = !only || only.some(a => (areas as readonly string[]).includes(a)) ? await compareScript(only) : 0;
  const replayed = !only || only.includes('replay') ? await compareJournal(option('--journal'), option('--keep')) : 0;
  if (scripted + replayed > 0) process.exitCode = 1;
  // A part of it would not be what it is called.
  if (process.env.EVIDENCE && !only)
    record({
      name: 'test/conformance',
      level: 'api',
      result: scripted + replayed > 0 ? 'failed' : 'passed',
      command: 'make conformance',
      date: new Date().toISOString(),
      commit: commitOf('.'),
      code: hashing('.')(['test/conformance']),
      figures,
      ...(scripted + replayed > 0 && { failure: `${scripted + replayed} differences that nothing explains` }),
    });
}

await main();
