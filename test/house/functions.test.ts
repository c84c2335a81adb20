import { describe, expect, it } from 'vitest';
import { functionsOf, longFunctions } from './functions.ts';

const long = (line: string, times = 61): string => Array.from({ length: times }, () => line).join('\n');

/** Longest first. */
const LEFT = [
  'src/kube/create-informer.ts createInformer',
  'src/operator/operator.ts createOperator',
  'src/server/page/page.ts createPage',
  'src/embedded/pretend/pretend.ts pretend',
  'src/kube/client.ts clientOver',
  'src/cli/source.ts readCluster',
  'src/real/transport.ts connect',
  'src/kube/reflect.ts reflect',
  'src/cli/simulation.ts simulate',
  'src/embedded/pretend/container.ts statusOf',
  'src/real/http.ts createHttp',
  'src/cli/run.ts run',
  'src/embedded/store/watch.ts watch',
  'src/cli/frame.ts addCommand',
  'src/kube/create-informer.ts makeScope',
  'src/server/page/page.ts stream',
  'src/insight/account.ts place',
  'src/insight/journey.ts hopsOf',
] as const;

describe('functions of more than 60 lines', () => {
  it('are counted whatever their form, with what they hold', () => {
    const found = functionsOf(
      'x.ts',
      `function plain() {\n${long('call();')}\n}\nconst arrow = () => {\n${long('call();')}\n};\nclass A {\n  method() {\n${long('call();')}\n  }\n}`,
    );
    expect(found.map(({ name, lines }) => [name, lines])).toEqual([
      ['plain', 63],
      ['arrow', 63],
      ['method', 63],
    ]);
  });

  it('are not tables: one literal without statements', () => {
    expect(functionsOf('x.ts', `const table = (x: number) => ({\n${long('a: x,')}\n});`)).toEqual([]);
    expect(functionsOf('x.ts', `const code = () => ({\n${long('a() { go(); },')}\n});`).length).toBeGreaterThan(0);
  });

  it('become fewer: these are left, and none is new', () => {
    expect(longFunctions().map(({ file, name }) => `${file} ${name}`)).toEqual([...LEFT]);
  });
});
