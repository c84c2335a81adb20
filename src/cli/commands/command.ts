import type { Clock } from '../../world/clock.ts';
import type { Depth, Snapshot, SourceFlags } from '../source/source.ts';
import type { Paper } from '../terminal/print.ts';

/** What a command found: the same for people and for programs. */
export interface Answer {
  /** For `-o json|yaml`. */
  readonly data: unknown;
  /** For `-o table`. */
  text(paper: Paper): string;
  /** 0 all is well, 1 a problem was found. */
  readonly code: 0 | 1;
}

export interface Flags extends SourceFlags {
  readonly output: 'table' | 'json' | 'yaml';
  readonly [flag: string]: unknown;
}

export interface Invocation {
  readonly args: readonly string[];
  readonly flags: Flags;
  /** Reads the objects that the command declared. */
  snapshot(): Promise<Snapshot>;
  /** Prints at once: for commands that go on. */
  say(text: string): void;
}

export interface CommandSpec {
  readonly name: string;
  /** As commander writes them: `[object]`, `<service> [group] <option>`. */
  readonly args?: string;
  readonly summary: string;
  /** Paragraphs of `--help`. */
  readonly about: string;
  readonly flags?: readonly (readonly [flags: string, description: string, fallback?: string])[];
  /** Arguments after the name, and what it shows. */
  readonly examples: readonly (readonly [args: string, what: string])[];
  /** Which objects it needs, or none of a cluster. */
  readonly reads: Depth | 'none';
  /** Asks again and paints over, with `--watch`. */
  readonly watch?: boolean;
  readonly run: (cx: Invocation) => Promise<Answer>;
  /** With `--follow`: prints as things happen, until stopped. */
  readonly follow?: (
    cx: Invocation,
    out: { readonly paper: Paper; line(text: string): void },
    clock: Clock,
  ) => Promise<void>;
}
