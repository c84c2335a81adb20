import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS, kindNamed } from '../../api/kinds.ts';
import type { AnyObject, Condition, Status } from '../../src/kube/object.ts';
import { apiVersionOf, CustomResourceDefinition, Namespace, pathOf } from '../../src/kube/resource.ts';
import type { Request, Response } from '../../src/kube/transport.ts';
import { examples, samples } from '../fixtures/objects.ts';

const BASES = fileURLToPath(new URL('../../config/crd/bases/', import.meta.url));
const crds = readdirSync(BASES).map(name => parse(readFileSync(join(BASES, name), 'utf8')) as AnyObject);

/** Kubernetes answers a JSON body to apply as well as YAML: JSON is YAML. */
const APPLY = 'application/apply-patch+yaml';

type Send = (request: Request) => Promise<Response>;

function resourceOf(object: AnyObject) {
  const kind = kindNamed(object.kind);
  if (kind === undefined) throw new Error(`no kind ${object.kind}`);
  return kind;
}

const make = (kind: string, name: string, spec?: object): AnyObject => ({
  apiVersion: apiVersionOf(kindNamed(kind)!),
  kind,
  metadata: { name },
  ...(spec === undefined ? {} : { spec }),
});

const message = (body: unknown) => (body as Status).message ?? '';
const specOf = (body: unknown) => (body as { spec: unknown }).spec;

async function install(send: Send): Promise<void> {
  for (const crd of crds) {
    const answer = await send({ method: 'POST', path: pathOf(CustomResourceDefinition, ''), body: crd });
    if (answer.status !== 201) throw new Error(`${crd.metadata.name}: ${message(answer.body)}`);
  }
  for (const name of ['samples', 'examples', 'empty', 'edits'])
    await send({
      method: 'POST',
      path: pathOf(Namespace, ''),
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    });
  await established(send);
}

async function established(send: Send): Promise<void> {
  const end = Date.now() + 60_000;
  for (;;) {
    const answer = await send({ method: 'GET', path: pathOf(CustomResourceDefinition, '') });
    const items = (answer.body as { items: (AnyObject & { status?: { conditions?: Condition[] } })[] }).items;
    const waiting = items.filter(
      crd => !crd.status?.conditions?.some(c => c.type === 'Established' && c.status === 'True'),
    );
    if (waiting.length === 0) return;
    if (Date.now() > end) throw new Error(JSON.stringify(waiting.map(crd => crd.status)));
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

/** What our kinds let in and what they refuse, on any API server: the real one is the judge, the Store must agree. */
export function crdStories(ground: () => Promise<Send>, options: { tables: boolean }): void {
  let send: Send;
  beforeAll(async () => {
    send = await ground();
    await install(send);
  }, 240_000);

  /** Server-side apply as a reader of the documentation would do it: unknown fields are errors. */
  const apply = (namespace: string, object: AnyObject, manager = 'test') =>
    send({
      method: 'PATCH',
      path: pathOf(resourceOf(object), namespace, object.metadata.name),
      query: { fieldManager: manager, fieldValidation: 'Strict', force: 'true' },
      contentType: APPLY,
      body: object,
    });

  /** What `kubectl create` and client-side apply send. */
  const create = (namespace: string, object: AnyObject) =>
    send({
      method: 'POST',
      path: pathOf(resourceOf(object), namespace),
      query: { fieldValidation: 'Strict' },
      body: object,
    });

  describe('CRDs', () => {
    it('are accepted with their names and found structural', async () => {
      const answer = await send({ method: 'GET', path: pathOf(CustomResourceDefinition, '') });
      const { items } = answer.body as { items: { metadata: { name: string }; status: { conditions: Condition[] } }[] };
      expect(items).toHaveLength(KINDS.length);
      const bad = items.flatMap(({ metadata, status }) =>
        status.conditions
          // `unapproved` in the annotation is an admission in the other sense too: the condition says so, and nothing else.
          .filter(c => c.type !== 'KubernetesAPIApprovalPolicyConformant')
          .filter(c => (c.type === 'NonStructuralSchema' ? c.status === 'True' : c.status !== 'True'))
          .map(c => `${metadata.name}: ${c.type}=${c.status} ${c.message}`),
      );
      expect(bad).toEqual([]);
    });

    it.each(KINDS.filter(kind => kind.specFields.includes('release')).map(kind => kind.kind))(
      '%s: spec.release is free until a release runs, and then stays at it',
      async name => {
        const object = (release: string): AnyObject => make(name, 'released', { release });
        const ask = async (release: string): Promise<string> => {
          const { status, body } = await apply('edits', object(release));
          return status < 300 ? 'fine' : message(body);
        };
        const runs = (release: string) =>
          send({
            method: 'PATCH',
            path: `${pathOf(resourceOf(object(release)), 'edits', 'released')}/status`,
            contentType: 'application/merge-patch+json',
            body: { status: { release } },
          });
        expect([await ask('2025.2'), await ask('2025.1'), await ask('2025.2')]).toEqual(['fine', 'fine', 'fine']);
        expect((await runs('2025.2')).status).toBe(200);
        for (const release of ['2025.1', '2026.1'])
          expect(await ask(release)).toContain("spec.release can't change while another release runs");
        expect(await ask('2025.2')).toBe('fine');
        // As a cloud whose spec was changed before there was a rule: it may be set back, and its status written.
        expect((await runs('2025.1')).status).toBe(200);
        expect(await ask('2025.2')).toBe('fine');
        expect(await ask('2025.1')).toBe('fine');
      },
    );

    it.each(KINDS.map(kind => kind.kind))('%s without a spec is defaulted as zod does it', async name => {
      const kind = kindNamed(name)!;
      const answer = await apply('empty', make(name, 'empty'));
      expect(answer.status, message(answer.body)).toBe(201);
      expect(specOf(answer.body)).toEqual(kind.specSchema.parse({}));
    });

    it.runIf(options.tables).each(KINDS.map(kind => [kind.kind, kind] as const))(
      '%s prints the columns that api/ names',
      async (_, kind) => {
        const answer = await send({
          method: 'GET',
          path: pathOf(kind, 'empty'),
          accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        });
        const table = answer.body as { columnDefinitions: { name: string }[] };
        expect(table.columnDefinitions.map(column => column.name)).toEqual(['Name', ...kind.columns.map(c => c.name)]);
      },
    );
  });

  describe('samples', () => {
    it.each(samples().map(s => [s.source, s.object] as const))('%s is applied strictly', async (_, object) => {
      const answer = await apply('samples', object);
      expect(answer.status, message(answer.body)).toBe(201);
      expect(specOf(answer.body)).toEqual(resourceOf(object).specSchema.parse(object.spec ?? {}));
    });
  });

  describe('examples', () => {
    it.each(examples().map(s => [`${s.source} ${s.object.kind} ${s.object.metadata.name}`, s.object] as const))(
      '%s is applied strictly',
      async (_, object) => {
        const answer = await apply('examples', object);
        expect(answer.status, message(answer.body)).toBe(201);
      },
    );
  });

  describe('bad input', () => {
    const refused: [string, AnyObject, number, RegExp][] = [
      [
        'nodeSelector on NovaExternalCompute',
        make('NovaExternalCompute', 'a', { nodeSelector: { a: 'b' } }),
        400,
        /nodeSelector/,
      ],
      [
        'an unknown field in a section',
        make('OpenStackControlPlane', 'a', { keystone: { replica: 2 } }),
        400,
        /replica/,
      ],
      ['two members', make('MariaDB', 'a', { replicas: 2 }), 422, /must be 1 or 3/],
      [
        'two members in a section',
        make('OpenStackControlPlane', 'a', { mariadb: { replicas: 2 } }),
        422,
        /must be 1 or 3/,
      ],
      ['an unknown release', make('Keystone', 'a', { release: '2024.1' }), 422, /spec\.release/],
      ['a wrong type', make('Keystone', 'a', { replicas: 'two' }), 422, /spec\.replicas/],
      ['a size that is none', make('MariaDB', 'a', { storageSize: 'big' }), 422, /spec\.storageSize/],
      ['an amount that is none', make('Memcached', 'a', { resources: { requests: { cpu: 'lots' } } }), 422, /requests/],
      ['an unknown kind of backend', make('Cinder', 'a', { backends: [{ name: 'a', type: 'tape' }] }), 422, /backends/],
      [
        'two backends of one name',
        make('Cinder', 'a', {
          backends: [
            { name: 'a', type: 'nfs' },
            { name: 'a', type: 'ceph' },
          ],
        }),
        422,
        /Duplicate value/,
      ],
      ['a cell with a bad name', make('Nova', 'a', { cellTemplates: { Cell_1: {} } }), 422, /cell names are/],
      [
        'a mechanism against the network backend',
        make('OpenStackControlPlane', 'a', { networkBackend: 'ovs', neutron: { mechanism: 'ovn' } }),
        422,
        /contradicts networkBackend/,
      ],
      [
        'a percentage that is none',
        make('OpenStackDataPlane', 'a', { strategy: { maxUnavailable: 'half' } }),
        422,
        /maxUnavailable/,
      ],
      ['a Nova whose children would not fit', make('Nova', 'a-nova-with-a-long-name'), 422, /at most 16/],
      ['Ceph outside and inside at once', make('CephStorage', 'a', { external: {}, rook: {} }), 422, /at most one of/],
      ['a name that no Service can have', make('Keystone', '1-keystone'), 422, /name becomes part of Service names/],
      ['a cron line that is none', make('Keystone', 'a', { fernetRotation: { schedule: 'daily' } }), 422, /schedule/],
    ];
    it.each(refused)('%s is refused', async (_, object, status, text) => {
      const answer = await create('edits', object);
      expect({ status: answer.status, message: message(answer.body) }).toEqual({
        status,
        message: expect.stringMatching(text),
      });
    });

    // Server-side apply checks types and fields before validation, and answers 500 where the others say 400 or 422.
    const unmergeable: [string, AnyObject, RegExp][] = [
      [
        'nodeSelector on NovaExternalCompute',
        make('NovaExternalCompute', 'a', { nodeSelector: { a: 'b' } }),
        /\.spec\.nodeSelector: field not declared/,
      ],
      ['a wrong type', make('Keystone', 'a', { replicas: 'two' }), /\.spec\.replicas: expected numeric/],
    ];
    it.each(unmergeable)('%s is refused by server-side apply as well', async (_, object, text) => {
      const answer = await apply('edits', object);
      expect({ status: answer.status, message: message(answer.body) }).toEqual({
        status: 500,
        message: expect.stringMatching(text),
      });
    });

    const immutable: [string, string, object, object][] = [
      ['the region', 'Keystone', {}, { region: 'Elsewhere' }],
      ['a storage class, changed', 'MariaDB', { storageClass: 'fast' }, { storageClass: 'slow' }],
      ['a storage class, set later', 'RabbitMQ', {}, { storageClass: 'slow' }],
      ['a storage class, removed', 'Glance', { storageClass: 'fast' }, {}],
      ['a database name', 'Placement', { databaseName: 'one' }, { databaseName: 'two' }],
      ['the cell of a host', 'NovaExternalCompute', { cellName: 'nova-cell1' }, { cellName: 'nova-cell2' }],
      ['the driver of a compute', 'NovaCompute', { computeDriver: 'fake' }, { computeDriver: 'libvirt' }],
      ['a recorded run', 'OpenStackDataPlaneDeployment', { nodeSets: ['a'] }, { nodeSets: ['a', 'b'] }],
      [
        'variables of a recorded run',
        'OpenStackDataPlaneDeployment',
        { ansibleExtraVars: { a: 1 } },
        { ansibleExtraVars: { a: 2 } },
      ],
      ['a storage class in a section', 'OpenStackControlPlane', {}, { mariadb: { storageClass: 'slow' } }],
    ];
    it.each(immutable)('%s stays (%s)', async (what, kind, before, after) => {
      const name = what.toLowerCase().replaceAll(/[^a-z]+/g, '-');
      expect((await apply('edits', make(kind, name, before))).status).toBe(201);
      const answer = await apply('edits', make(kind, name, after));
      expect(answer.status).toBe(422);
      expect(message(answer.body)).toMatch(/can't/);
    });

    it('an immutable field may still be chosen when its service is switched on', async () => {
      expect((await apply('edits', make('OpenStackControlPlane', 'late', {}))).status).toBe(201);
      const on = { heat: { enabled: true, databaseName: 'orchestra' } };
      expect((await apply('edits', make('OpenStackControlPlane', 'late', on))).status).toBe(200);
      const off = { heat: { enabled: true, databaseName: 'other' } };
      expect((await apply('edits', make('OpenStackControlPlane', 'late', off))).status).toBe(422);
    });

    it('an edit that has nothing to do with immutable fields passes', async () => {
      expect((await apply('edits', make('MariaDB', 'ordinary', { storageClass: 'fast' }))).status).toBe(201);
      const edit = { storageClass: 'fast', storageSize: '20Gi', replicas: 3 };
      expect((await apply('edits', make('MariaDB', 'ordinary', edit))).status).toBe(200);
    });
  });
}
