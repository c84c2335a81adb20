import { describe, expect, it } from 'vitest';
import { parseObjects } from './yaml.ts';

const parse = (text: string) => parseObjects(text, 'cloud.yaml');

describe('YAML as kubectl reads it', () => {
  it('several documents, empty ones left out, lists opened', () => {
    const text =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n';
    expect(parse(text).map(object => `${object.kind} ${object.metadata.name}`)).toEqual(['Secret a', 'Pod b']);
  });

  it('a JSON list as kubectl prints it', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } }],
    };
    expect(parse(JSON.stringify(list))).toHaveLength(1);
  });

  it.each([
    ['a tab', 'apiVersion: v1\nkind: Secret\nmetadata:\n\tname: a\n', /^cloud\.yaml:4:1: Tabs are not allowed/],
    [
      'a key twice',
      'apiVersion: v1\nkind: Secret\nkind: Pod\nmetadata: {name: a}\n',
      /^cloud\.yaml:3:1: Map keys must be unique/,
    ],
    ['no kind', 'metadata: {name: a}\n', /^cloud\.yaml:1: not a Kubernetes object/],
    [
      'the second document',
      'apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\nhello\n',
      /^cloud\.yaml:5: not a Kubernetes/,
    ],
    ['no name', 'apiVersion: v1\nkind: Secret\nmetadata: {}\n', /Secret without metadata\.name/],
    ['too much', `# ${'x'.repeat(33e6)}`, /^cloud\.yaml: 33 MB of YAML are more than this program reads; give it JSON/],
    ['broken JSON', '{"kind": ', /^cloud\.yaml: /],
  ])('%s', (_what, text, message) => expect(() => parse(text)).toThrow(message));
});
