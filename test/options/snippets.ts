import { hash, seededRandom } from '../../src/embedded/sim/random.ts';
import { type Option, releases, type Schema, schemaOf } from '../../src/oslo/options.ts';

/** Texts as people write them into customServiceConfig, right lines and mistakes mixed; the same for the same seed. */
export interface Snippet {
  readonly service: string;
  readonly text: string;
}

/** Whose validator we can ask: the services that lab/oslo/venv.ts installs. */
export const SERVICES = ['nova', 'keystone', 'glance', 'placement', 'neutron', 'cinder', 'heat'] as const;

export function snippets(release: string, count: number): Snippet[] {
  return Array.from({ length: count }, (_, index) => {
    const service = SERVICES[index % SERVICES.length]!;
    return { service, text: new Writer(service, release, index).text() };
  });
}

class Writer {
  readonly #schema: Schema;
  readonly #others: readonly Schema[];
  readonly #random: () => number;

  constructor(service: string, release: string, index: number) {
    this.#schema = schemaOf(service, release)!;
    this.#others = releases.filter(other => other !== release).map(other => schemaOf(service, other)!);
    this.#random = seededRandom(hash(`${release} ${service} ${index}`)).next;
  }

  text(): string {
    const lines: string[] = [];
    // Once each: of what is set twice oslo reads the last, and the linter looks at both.
    const sections = new Set(Array.from({ length: 1 + this.#below(3) }, () => this.#one(this.#schema.sections)));
    for (const section of sections) {
      lines.push(`[${this.#chance(0.08) ? this.#mistyped(section) : section}]`);
      const options = Array.from({ length: 1 + this.#below(4) }, () => this.#line(section));
      lines.push(...new Map(options.map(line => [line.split(' ')[0], line])).values());
    }
    return `${lines.join('\n')}\n`;
  }

  #line(section: string): string {
    const options = [...(this.#schema.section(section)?.values() ?? [])];
    const option = this.#one(options);
    const kind = this.#random();
    if (kind < 0.35) return `${option.name} = ${this.#good(option)}`;
    if (kind < 0.65) return this.#bad(this.#one(this.#refusing(options)));
    if (kind < 0.8) return `${this.#mistyped(option.name)} = x`;
    if (kind < 0.9) {
      const elsewhere = this.#schema.section(this.#one(this.#schema.sections));
      return `${this.#one([...(elsewhere?.keys() ?? [])])} = x`;
    }
    const dated = [...(this.#one(this.#others).section(section)?.keys() ?? [])];
    const gone = dated.filter(name => this.#schema.option(section, name) === undefined);
    return `${this.#one(gone.length > 0 ? gone : dated.length > 0 ? dated : [option.name])} = x`;
  }

  /** Those that have a range or choices, or else a type; few have, and all that is possible is to be met. */
  #refusing(options: readonly Option[]): readonly Option[] {
    const bounded = options.filter(({ min, max, choices }) => min !== undefined || max !== undefined || choices);
    if (bounded.length > 0 && this.#chance(0.5)) return bounded;
    const typed = options.filter(judged);
    return typed.length > 0 ? typed : options;
  }

  #good({ t, choices, min, max }: Option): string {
    if (choices) return String(this.#one(choices.filter(choice => choice !== null)));
    switch (t) {
      case 'bool':
        return this.#one(['true', 'False', '1', 'no']);
      case 'int':
      case 'port':
        return String(min ?? (max === undefined ? this.#below(1000) : max));
      case 'float':
        return String(min ?? max ?? 1.5);
      case 'dict':
        return 'a:1,b:2';
      case 'uri':
        return 'http://host.example.com:80/path';
      case 'IP address value':
        return '10.0.0.1';
      default:
        return 'word';
    }
  }

  #bad(option: Option): string {
    const { name, t, choices, min, max } = option;
    const wrong: string[] = [];
    if (choices) wrong.push('no-such-choice');
    else if (t === 'bool') wrong.push('maybe', 'true # for now', '2');
    else if (t === 'int' || t === 'port' || t === 'float') {
      if (min !== undefined) wrong.push(String(min - 1));
      // Beyond these a table's number is not exact.
      if (max !== undefined && Number.isSafeInteger(max)) wrong.push(String(max + 1));
      if (t === 'port') wrong.push('70000');
      if (wrong.length === 0 || this.#chance(0.5)) wrong.push('twelve', '1,5', '0x10');
      if (t !== 'float') wrong.push('1.5');
    } else if (t === 'dict') wrong.push('neither');
    else if (t === 'uri') wrong.push('nowhere');
    else if (t === 'IP address value') wrong.push('10.0.0.256', 'localhost');
    return `${name} = ${wrong.length > 0 ? this.#one(wrong) : 'word'}`;
  }

  /** A letter left out, doubled, or two swapped. Never a dash: the validator takes it for an underscore, services do not. */
  #mistyped(name: string): string {
    const at = 1 + this.#below(Math.max(1, name.length - 2));
    const [before, here, after] = [name.slice(0, at), name[at] ?? 'x', name.slice(at + 1)];
    return this.#one([
      `${before}${after}`,
      `${before}${here}${here}${after}`,
      `${before}${after[0] ?? ''}${here}${after.slice(1)}`,
    ]);
  }

  #below = (bound: number): number => Math.floor(this.#random() * bound);
  #chance = (share: number): boolean => this.#random() < share;
  #one = <T>(of: readonly T[]): T => of[this.#below(of.length)]!;
}

/** Types whose values lint judges. */
export const judged = ({ t, choices }: Pick<Option, 't' | 'choices'>): boolean =>
  choices !== undefined || ['bool', 'int', 'port', 'float', 'dict', 'uri', 'IP address value'].includes(t);
