import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { auditLog, CONTROL } from './cluster/control.ts';
import { enter } from './cluster/host.ts';
import { kubectl, tryKubectl } from './kubectl.ts';
import { repo } from './paths.ts';
import { run } from './shell.ts';

const NS = 'slice-story';
const OPERATOR_NS = 'openstack-operator-system';
const sample = readFileSync(join(repo, 'config/samples/controlplane_slice.yaml'), 'utf8');

const pause = (seconds: number) => new Promise(resolve => setTimeout(resolve, seconds * 1000));
const decoded = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

/** One line per proof, with its time; a proof that fails throws. */
async function proof<T>(what: string, act: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await act();
  const said = typeof result === 'string' ? `: ${result}` : '';
  console.log(`ok  ${what}${said} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  return result;
}

async function until(what: string, seconds: number, done: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await done())) {
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await pause(1);
  }
}

const get = async (what: string, path: string): Promise<string> =>
  (await tryKubectl(['-n', NS, 'get', what, '-o', `jsonpath=${path}`])).stdout;
const apply = (release: string, spec: object = {}): Promise<string> => {
  const object = parse(sample) as { spec: object };
  return kubectl(
    ['-n', NS, 'apply', '--server-side', '-f', '-'],
    stringify({ ...object, spec: { ...object.spec, release, ...spec } }),
  );
};

async function ready(seconds: number): Promise<void> {
  await until(
    `the slice is Ready: ${await get('openstackcontrolplane/slice', '{.status.conditions[0].message}')}`,
    seconds,
    async () => {
      const [generation, observed, status] = (
        await get(
          'openstackcontrolplane/slice',
          '{.metadata.generation} {.status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status}',
        )
      ).split(' ');
      return generation === observed && status === 'True';
    },
  );
}

/** A token by password, or the check of one, through the Service, as any client would. Answers the status and the token. */
async function identity(
  address: string,
  request: { password?: string; token?: string },
): Promise<{ status: number; token: string }> {
  const body = JSON.stringify({
    auth: {
      identity: {
        methods: ['password'],
        password: { user: { name: 'admin', domain: { id: 'default' }, password: request.password } },
      },
      scope: { project: { name: 'admin', domain: { id: 'default' } } },
    },
  });
  const how = request.token
    ? ['-H', `X-Auth-Token: ${request.token}`, '-H', `X-Subject-Token: ${request.token}`]
    : ['-H', 'Content-Type: application/json', '-d', body];
  const [program, ...rest] = [
    ...enter(CONTROL),
    'curl',
    '-s',
    '-m',
    '20',
    '-D',
    '-',
    '-o',
    '/dev/null',
    ...how,
    `http://${address}:5000/v3/auth/tokens`,
  ];
  const { stdout } = await run(program!, rest);
  return {
    status: Number(/^HTTP\/\S+ (\d+)/.exec(stdout)?.[1] ?? 0),
    token: /x-subject-token: (\S+)/i.exec(stdout)?.[1] ?? '',
  };
}

/** Polls while something happens; counts what failed. */
async function polling(address: string, token: string, act: () => Promise<void>): Promise<string> {
  let [asked, failed, going] = [0, 0, true];
  const loop = (async () => {
    while (going) {
      asked++;
      if ((await identity(address, { token })).status !== 200) failed++;
      await pause(0.5);
    }
  })();
  await act();
  going = false;
  await loop;
  if (failed > 0) throw new Error(`${failed} of ${asked} requests failed`);
  return `${asked} requests, 0 failed`;
}

interface Audit {
  user: { username: string };
  verb: string;
  requestURI: string;
  requestReceivedTimestamp: string;
}

/** Mutating requests of the operator since a moment, Leases and Events left out (rule 14). */
const writesSince = (since: number): Audit[] =>
  readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .slice(-50_000)
    .map(line => JSON.parse(line) as Audit)
    .filter(a => a.user.username.endsWith(':openstack-operator') && Date.parse(a.requestReceivedTimestamp) >= since)
    .filter(a => !['get', 'list', 'watch'].includes(a.verb) && !/\/(events|leases)/.test(a.requestURI));

async function operatorMemory(): Promise<string> {
  const summary = JSON.parse(await kubectl(['get', '--raw', '/api/v1/nodes/n1/proxy/stats/summary'])) as {
    pods: { podRef: { name: string }; containers: { memory?: { rssBytes?: number; workingSetBytes?: number } }[] }[];
  };
  const memory = summary.pods.find(pod => pod.podRef.name.startsWith('openstack-operator'))?.containers[0]?.memory;
  const mib = (bytes = 0): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
  return `RSS ${mib(memory?.rssBytes)}, working set ${mib(memory?.workingSetBytes)}`;
}

async function left(): Promise<string[]> {
  const kinds =
    'pods,services,deployments,statefulsets,jobs,secrets,persistentvolumeclaims,openstackcontrolplanes,mariadbs,rabbitmqs,memcacheds,keystones';
  const names = await kubectl(['-n', NS, 'get', kinds, '-o', 'name']);
  return names
    .split('\n')
    .filter(name => name !== '')
    .sort();
}

async function gone(): Promise<void> {
  await kubectl(['-n', NS, 'delete', 'openstackcontrolplane', 'slice', '--timeout=180s']);
  await until('pods and config Secrets are collected', 120, async () =>
    (await left()).every(name => /secret|persistentvolumeclaim/.test(name) && !/config-data/.test(name)),
  );
}

const RETAINED = [
  'persistentvolumeclaim/data-mariadb-0',
  'persistentvolumeclaim/data-rabbitmq-0',
  'secret/keystone-admin',
  'secret/keystone-credential-keys',
  'secret/keystone-fernet-keys',
  'secret/mariadb-root',
  'secret/rabbitmq-admin',
];

function same(found: readonly string[], wanted: readonly string[]): void {
  if (found.join() !== wanted.join()) throw new Error(`left over: ${found.join(', ')}; expected ${wanted.join(', ')}`);
}

export interface SliceStory {
  readonly release: string;
  /** Deploy and delete so often while the operator is killed. */
  readonly cycles: number;
  readonly restSeconds: number;
}

/** The slice on real Kubernetes and real OpenStack, from nothing to nothing (issue 4). */
export async function slice({ release, cycles, restSeconds }: SliceStory): Promise<void> {
  await tryKubectl(['create', 'namespace', NS]);
  await proof(`${release}: the slice goes to Ready`, async () => {
    await apply(release);
    await ready(600);
  });
  const address = await get('service/keystone-api', '{.spec.clusterIP}');
  const password = async (): Promise<string> => decoded(await get('secret/keystone-admin', '{.data.password}'));
  let first = '';
  await proof('a token by the password of Secret keystone-admin', async () => {
    const { status, token } = await identity(address, { password: await password() });
    if (status !== 201) throw new Error(`status ${status}`);
    first = token;
  });

  await proof('token keys rotate while a client polls with an old token', () =>
    polling(address, first, async () => {
      const before = await get('secret/keystone-fernet-keys', '{.data}');
      await kubectl([
        '-n',
        NS,
        'annotate',
        '--overwrite',
        'secret/keystone-fernet-keys',
        'openstack.k8s.io/rotated-at=2020-01-01T00:00:00Z',
      ]);
      await until('the keys changed', 60, async () => (await get('secret/keystone-fernet-keys', '{.data}')) !== before);
      // The kubelet brings the new keys to the pods.
      await pause(20);
    }),
  );
  await proof('a new administrator password works after the Secret was changed', async () => {
    const fresh = Buffer.from(`story-${Date.now()}`).toString('base64');
    await kubectl([
      '-n',
      NS,
      'patch',
      'secret/keystone-admin',
      '--type=merge',
      '-p',
      JSON.stringify({ data: { password: fresh } }),
    ]);
    await until(
      'a token by the new password',
      240,
      async () => (await identity(address, { password: decoded(fresh) })).status === 201,
    );
    await ready(120);
  });
  await proof('pod profile restricted: no warning of PodSecurity restricted, Ready again, a token', async () => {
    await apply(release, { podProfile: 'restricted' });
    await ready(600);
    const warned = await tryKubectl([
      'label',
      '--dry-run=server',
      '--overwrite',
      'namespace',
      NS,
      'pod-security.kubernetes.io/enforce=restricted',
    ]);
    // Finished Jobs of the earlier profile stay until they are superseded.
    const about = warned.stderr
      .split('\n')
      .filter(line => /^Warning/.test(line) && !/existing pods/.test(line) && !/db-sync|bootstrap/.test(line));
    if (about.length > 0) throw new Error(about.join('; '));
    const { status } = await identity(address, { password: await password() });
    if (status !== 201) throw new Error(`status ${status}`);
  });
  await proof(`rule 14: nothing written in ${restSeconds} s at rest`, async () => {
    await pause(10);
    const since = Date.now();
    await pause(restSeconds);
    const writes = writesSince(since);
    if (writes.length > 0) throw new Error(writes.map(a => `${a.verb} ${a.requestURI}`).join('\n'));
    return operatorMemory();
  });
  await proof('deleted: only what the policy retains is left', async () => {
    await gone();
    same(await left(), RETAINED);
  });
  const kept = await password();
  for (let cycle = 1; cycle <= cycles; cycle++)
    await proof(`cycle ${cycle}: deploy and delete while the operator is killed`, async () => {
      let [going, kills] = [true, 0];
      const killer = (async () => {
        while (going) {
          await pause(1 + Math.random() * 14);
          if (!going) break;
          await tryKubectl([
            '-n',
            OPERATOR_NS,
            'delete',
            'pod',
            '-l',
            'app.kubernetes.io/name=openstack-operator',
            '--force',
            '--grace-period=0',
          ]);
          kills++;
        }
      })();
      try {
        await apply(release);
        await ready(900);
        if ((await password()) !== kept) throw new Error('the administrator password is another one');
        await kubectl(['-n', NS, 'delete', 'openstackcontrolplane', 'slice', '--wait=false']);
        await until(
          'the control plane is gone',
          600,
          async () => (await get('openstackcontrolplane/slice', '{.metadata.name}')) === '',
        );
      } finally {
        going = false;
        await killer;
      }
      await until('the rest is collected', 180, async () => (await left()).length === RETAINED.length);
      same(await left(), RETAINED);
      return `${kills} kills, 0 bad end states`;
    });
  await kubectl(['delete', 'namespace', NS, '--wait=false']);
}
