import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { CLOUD_NAMESPACE as namespace, prepareCloud } from '../../lab/cloud.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { nameIngresses } from '../../lab/cluster/ingress.ts';
import { nodesOf } from '../../lab/cluster/layout.ts';
import { kubectl } from '../../lab/kubectl.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Pod, Secret } from '../../src/kube/resource.ts';
import { SERVING_LABEL } from '../../src/services/tls/certificate.ts';
import { figure } from './figure.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack, shownBy } from './openstack.ts';
import { Poller, told } from './poller.ts';
import { ready, until, valueIn } from './stage.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
interface Cloud extends AnyObject {
  spec: { tls: object; nova: object; publicDomain: string };
}
const yaml = parse(readFileSync('lab/cloud-ceph.yaml', 'utf8')) as Cloud;
const { tls, ...rest } = yaml.spec;
/** Said in so many words: whoever deployed it said that it is on, and goes on saying so. */
const plain = { ...rest, tls: { enabled: false } };
/** What one pod of a StatefulSet serves is away while it is replaced. */
const TWICE = { glance: { replicas: 2 }, nova: { ...plain.nova, apiServiceTemplate: { replicas: 2 } } };

/** The cloud of `make lab-cloud-ceph` is changed under the eyes of a client that asks every API twice a second. */
describe(`a living cloud, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let poller: Poller;
  let scheme = 'http';
  const cloud = (more: object) => ({ ...yaml, spec: { ...plain, ...TWICE, release, ...more } });
  const keystone = `keystone-api.${namespace}.svc.cluster.local`;
  const memcached = `memcached-0.memcached.${namespace}.svc.cluster.local`;

  /** As somebody who was told of both addresses. */
  async function login(): Promise<OpenStack> {
    const password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    const ca = await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret);
    const by = (way: string) =>
      OpenStack.login(namespace, password, { url: `${way}://keystone.${plain.publicDomain}`, ca });
    try {
      return await by(scheme);
    } catch (error) {
      const other = scheme === 'http' ? 'https' : 'http';
      const os = await by(other).catch(() => Promise.reject(error));
      scheme = other;
      return os;
    }
  }

  const edited = async (more: object): Promise<void> => {
    await stage.apply(cloud(more));
    await ready(stage, OpenStackControlPlane, 'cloud');
  };
  /** Pods that serve and are to go on serving, by uid. */
  const pods = async () =>
    (await stage.list(Pod))
      .filter(
        ({ status, metadata }) => (status as { phase?: string }).phase === 'Running' && !metadata.deletionTimestamp,
      )
      .map(pod => pod.metadata.uid)
      .sort();
  /** The protocols that the catalog speaks of. */
  const schemes = async () => [
    ...new Set([...(await login()).catalog.values()].map(url => url.slice(0, url.indexOf(':')))),
  ];
  const report = (what: string) => {
    const tally = poller.turn();
    console.log(`${what}: ${told(tally)}`);
    figure(`${what}, requests`, tally.asked);
    figure(`${what}, failed`, tally.failed.length);
    figure(`${what}, seconds`, Math.round(tally.seconds));
    return tally;
  };

  beforeAll(async () => {
    await prepareCloud(nodesOf(1), yaml.spec);
    stage = await labStage(namespace);
    await edited({});
    await nameIngresses();
    poller = await Poller.start(login);
  });
  afterAll(() => poller?.stop());

  it('answers every request while nothing happens', async () => {
    await stage.pass(30);
    const { asked, failed } = report('at rest');
    expect(asked).toBeGreaterThan(100);
    expect(failed).toEqual([]);
    expect(await schemes()).toEqual(['http']);
  });

  it('replaces every login that the operator made', async () => {
    const users = async () => {
      const secrets = (await stage.list(Secret)).filter(secret =>
        /-(database|identity|message-bus)$/.test(secret.metadata.name),
      );
      return new Map(secrets.map(({ metadata, data }) => [metadata.name, (data as Record<string, string>).user]));
    };
    const before = await users();
    const id = new Date().toISOString();
    await edited({ actions: [{ name: 'rotate', id }] });
    await until(stage, 'the action is done', 900, async () => {
      const { actions = [] } = ((await stage.get(OpenStackControlPlane, 'cloud'))?.status ?? {}) as {
        actions?: { id: string; state: string }[];
      };
      return actions.some(action => action.id === id && action.state === 'Done');
    });
    const after = await users();
    expect([...before].filter(([name, user]) => after.get(name) === user)).toEqual([]);
    figure('logins', before.size);
    const { failed } = report('logins replaced');
    expect(failed).toEqual([]);
  });

  it('switches TLS on', async () => {
    await edited({ tls });
    report('TLS on');
    await stage.pass(20);
    expect(await schemes()).toEqual(['https']);
    expect(report('with TLS').failed).toEqual([]);
    // Those who ask it speak TLS: there is no other way in, but from its own pod.
    const stats = "exec 3<>/dev/tcp/127.0.0.1/11210; printf 'stats\\r\\nquit\\r\\n' >&3; cat <&3";
    const said = await kubectl(['-n', namespace, 'exec', 'memcached-0', '--', 'bash', '-c', stats]);
    const [, hits] = /STAT get_hits (\d+)/.exec(said) ?? [];
    console.log(
      `memcached over TLS: ${hits} hits, ${/STAT ssl_handshake_errors (\d+)/.exec(said)?.[1]} handshakes failed`,
    );
    expect(Number(hits)).toBeGreaterThan(0);
  });

  it('takes renewed certificates without a restart', async () => {
    const running = await pods();
    const [before, cached] = [await shownBy(keystone, 5000), await shownBy(memcached, 11211)];
    const began = Date.now();
    for (const { metadata } of await stage.list(Secret))
      if (metadata.name.endsWith('-certificate')) await stage.remove(Secret, metadata.name);
    await until(stage, 'every server was given its new certificate', 600, async () => {
      const serving = (await stage.list(Secret)).filter(({ metadata }) => metadata.labels?.[SERVING_LABEL]);
      const since = serving.map(({ metadata }) => Date.parse(metadata.annotations?.['openstack.k8s.io/since'] ?? ''));
      return since.length > 10 && since.every(time => time > began);
    });
    await stage.pass(60);
    expect(await shownBy(keystone, 5000)).not.toBe(before);
    expect(await shownBy(memcached, 11211)).not.toBe(cached);
    const { failed } = report('certificates renewed');
    expect(await pods()).toEqual(running);
    expect(failed).toEqual([]);
  });

  it('switches TLS off', async () => {
    await edited({});
    report('TLS off');
    await stage.pass(20);
    expect(await schemes()).toEqual(['http']);
    expect(report('without TLS').failed).toEqual([]);
  });
});
