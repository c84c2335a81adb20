import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import { createSecretMemory, type SecretReader } from './secrets.ts';

const secret = (name: string, version: string, data: Record<string, string>): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'a', uid: `uid of ${name}`, resourceVersion: version },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

/** A cluster of one namespace that writes down what it was asked for. */
function cluster() {
  const asked: string[] = [];
  let secrets: AnyObject[] | undefined = [];
  const reader: SecretReader = {
    async names() {
      asked.push('names');
      return secrets?.map(({ data: _data, ...rest }) => rest as AnyObject);
    },
    async whole() {
      asked.push('whole');
      return secrets;
    },
  };
  const has = (...now: AnyObject[]): void => {
    secrets = now;
  };
  return { reader, asked, has, breaks: () => (secrets = undefined) };
}

describe('who looks at Secrets again and again', () => {
  it('reads content once per version', async () => {
    const { reader, asked, has } = cluster();
    const memory = createSecretMemory();
    has(secret('login', '1', { password: 'correct horse' }));
    for (let look = 0; look < 3; look++) await memory.look(reader, ['a']);
    expect(asked).toEqual(['whole', 'names', 'names']);
    expect(memory.hide('the correct horse')).toBe('the (secret)');
    has(secret('login', '2', { password: 'battery staple' }));
    await memory.look(reader, ['a']);
    expect(asked.slice(3)).toEqual(['names', 'whole']);
    expect(memory.hide('correct horse, battery staple')).toBe('correct horse, (secret)');
  });

  it('sees what came and what went', async () => {
    const { reader, asked, has } = cluster();
    const memory = createSecretMemory();
    const names = async () => (await memory.look(reader, ['a'])).map(({ metadata }) => metadata.name);
    expect(await names()).toEqual([]);
    has(secret('one', '1', {}), secret('two', '2', {}));
    expect(await names()).toEqual(['one', 'two']);
    has(secret('two', '2', {}));
    expect(await names()).toEqual(['two']);
    expect(asked.filter(what => what === 'whole')).toHaveLength(3);
  });

  it('keeps config, and of the rest the name and what no answer may hold', async () => {
    const { reader, has } = cluster();
    const long = 'certificate '.repeat(100).trim();
    has(
      secret('tls', '1', { 'tls.key': long, password: 'correct horse' }),
      secret('config', '1', { '01-nova.conf': long }),
    );
    const memory = createSecretMemory();
    const [tls, config] = await memory.look(reader, ['a']);
    expect(tls).not.toHaveProperty('data');
    expect(memory.hide(`${long} correct horse`)).toBe('(secret) (secret)');
    expect(Object.keys(config?.data as object)).toEqual(['01-nova.conf']);
  });

  it('goes on hiding what it can read no longer, and forgets a namespace that is no longer looked at', async () => {
    const { reader, has, breaks } = cluster();
    const memory = createSecretMemory();
    has(secret('login', '1', { password: 'correct horse' }));
    await memory.look(reader, ['a']);
    breaks();
    expect(await memory.look(reader, ['a'])).toHaveLength(1);
    expect(memory.hide('correct horse')).toBe('(secret)');
    expect(await memory.look(reader, [])).toEqual([]);
    expect(memory.hide('correct horse')).toBe('correct horse');
  });
});
