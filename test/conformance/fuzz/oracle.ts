import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Json } from './generate.ts';

export interface Request {
  op: 'apply' | 'update';
  kind: string;
  live: Json | null;
  new: Json;
  manager: string;
  force: boolean;
  subresource: string;
  reset: readonly (readonly string[])[];
  time: string;
}

export interface Failure {
  code: number;
  reason: string;
  message: string;
  causes?: { reason?: string; message?: string; field?: string }[];
}

export type Answer = { object: Json; error?: undefined } | { error: Failure; object?: undefined };

/** Upstream's field manager in a process of its own (lab/tools/oracle): one JSON line in, one out, in order. */
export class Oracle {
  private readonly process: ChildProcess;
  private readonly waiting: { resolve: (a: Answer) => void; reject: (e: Error) => void }[] = [];

  constructor(program: string) {
    // One core is ours, so one is what upstream gets.
    this.process = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, GOMAXPROCS: '1' } });
    createInterface({ input: this.process.stdout! }).on('line', line =>
      this.waiting.shift()?.resolve(JSON.parse(line) as Answer),
    );
    this.process.on('exit', code => {
      for (const { reject } of this.waiting) reject(new Error(`the oracle ended with ${code}`));
    });
  }

  ask(request: Request): Promise<Answer> {
    return this.send(request);
  }

  async learn(kind: string, schema: object): Promise<void> {
    const answer = await this.send({ op: 'schema', kind, schema });
    if (answer.error) throw new Error(`the oracle refuses the schema of ${kind}: ${answer.error.message}`);
  }

  private send(request: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.process.stdin!.write(`${JSON.stringify(request)}\n`);
    });
  }

  close(): void {
    this.process.stdin!.end();
  }
}
