import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Whole errors, with differences and stacks. */
const LOG = '.run/failures.log';
const WIDTH = 240;

/** What vitest tells of an error, wherever it was thrown. */
interface Told {
  readonly message: string;
  readonly diff?: string;
  readonly stack?: string;
  readonly stacks?: readonly { readonly file: string; readonly line: number }[];
}

const plain = (text: string): string => stripVTControlCharacters(text);
const placeOf = (error: Told | undefined): string => {
  const [frame] = error?.stacks ?? [];
  return frame ? ` (${relative('.', frame.file)}:${frame.line})` : '';
};
const headOf = (error: Told | undefined): string => {
  const [first = ''] = plain(error?.message ?? 'it says nothing').split('\n');
  return first.length > WIDTH ? `${first.slice(0, WIDTH)}...` : first;
};

/** One line for each failure, as it happens, and one from time to time of how far the run is. */
export class Lines implements Reporter {
  #files = 0;
  #done = 0;
  #passed = 0;
  #failed = 0;

  onTestRunStart(specifications: readonly unknown[]): void {
    this.#files = specifications.length;
    mkdirSync('.run', { recursive: true });
    writeFileSync(LOG, '');
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === 'passed') this.#passed++;
    if (state === 'failed') this.#fail(`${test.module.relativeModuleId} > ${test.fullName}`, errors);
  }

  onTestModuleEnd(module: TestModule): void {
    const errors = module.errors();
    if (errors.length > 0) this.#fail(module.relativeModuleId, errors);
    const tenth = (done: number): number => Math.floor((done * 10) / this.#files);
    this.#done++;
    if (tenth(this.#done) > tenth(this.#done - 1))
      console.log(`       ${this.#done} of ${this.#files} files, ${this.#passed} passed, ${this.#failed} failed`);
  }

  onTestRunEnd(_modules: unknown, errors: readonly Told[]): void {
    if (errors.length > 0) this.#fail('outside of any test', errors);
    if (this.#failed > 0) console.log(`       whole errors are in ${LOG}`);
  }

  #fail(what: string, errors: readonly Told[]): void {
    this.#failed++;
    console.log(`FAILED ${what}: ${headOf(errors[0])}${placeOf(errors[0])}`);
    const whole = errors.map(({ message, diff, stack }) => [message, diff, stack].filter(Boolean).join('\n'));
    appendFileSync(LOG, `${plain([what, ...whole].join('\n'))}\n\n`);
  }
}
