import { readFileSync } from 'node:fs';
import { KINDS } from '../../api/kinds.ts';
import { crdOf } from '../../api/schema/crd.ts';
import { type Backends, createBackends } from '../../src/embedded/backends/backends.ts';
import { type Pretenders, pretend } from '../../src/embedded/controllers/controllers.ts';
import { type Client, createClient } from '../../src/kube/client.ts';
import type { AnyObject, Condition } from '../../src/kube/object.ts';
import { CustomResourceDefinition, Namespace, type Resource } from '../../src/kube/resource.ts';
import type { Transport } from '../../src/kube/transport.ts';
import { rbac } from '../../src/operator/manifests.ts';
import { createOperator, type OperatorOptions } from '../../src/operator/operator.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { NAME, type Scope } from '../../src/operator/scope.ts';
import { realClock, realRandom } from '../../src/real/clock.ts';
import { loadCredentials } from '../../src/real/credentials.ts';
import { type Connection, connect } from '../../src/real/transport.ts';
import type { Plan } from '../../src/runtime/plan/row.ts';
import { type ApiServer, startApiServer, type User } from './apiserver.ts';

export const NS = 'openstack';

/** Short, because nothing is started: the order of events is what matters here. */
const DELAYS = { pull: 50, start: 50, ready: 100, job: 100, stop: 100 };

/** Times that a starting server needs in the embedded world, without the waiting. */
const hasty =
  (backends: Backends): Backends['programs'] =>
  run => {
    const outcome = backends.programs(run);
    if (outcome && 'serves' in outcome) return { ...outcome, readyAfter: Math.min(outcome.readyAfter ?? 0, 200) };
    if (outcome && 'after' in outcome) return { ...outcome, after: Math.min(outcome.after, 200) };
    return outcome;
  };

const role = (kind: string): Resource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: !kind.startsWith('Cluster'),
});

/** A real kube-apiserver, pretending workloads, fake backends, and our operator with exactly the rights it generates. */
export class RealCluster {
  readonly server: ApiServer;
  readonly admin: Client;
  readonly backends: Backends;
  readonly pretenders: Pretenders;
  readonly #plans: readonly Plan<never>[];
  readonly #scope: Scope;
  readonly #connections: Connection[];
  #stopOperator: (() => Promise<void>) | undefined;

  private constructor(
    server: ApiServer,
    plans: readonly Plan<never>[],
    wrap: (user: User, to: Transport) => Transport,
    scope: Scope,
  ) {
    this.server = server;
    this.#plans = plans;
    this.#scope = scope;
    this.#connections = [];
    this.admin = createClient(wrap('admin', this.connect('admin')), realClock);
    this.backends = createBackends({ resolve: (host, port) => this.pretenders.resolve(host, port) });
    this.pretenders = pretend({
      transport: wrap('pretender', this.connect('pretender')),
      clock: realClock,
      random: realRandom,
      programs: hasty(this.backends),
      delays: DELAYS,
    });
    this.wrap = wrap;
  }

  readonly wrap: (user: User, to: Transport) => Transport;

  static async start(
    plans: readonly Plan<never>[] = PLANS,
    wrap = (_user: User, to: Transport) => to,
    /** What the operator may serve: its rights are no more than that needs. */
    scope: Scope = { namespaces: [], kinds: [] },
  ): Promise<RealCluster> {
    const cluster = new RealCluster(await startApiServer(), plans, wrap, scope);
    await cluster.#install();
    await cluster.pretenders.start();
    return cluster;
  }

  connect(user: User): Connection {
    const connection = connect(loadCredentials({ kubeconfig: this.server.kubeconfig(user), env: {} }), {
      userAgent: user,
    });
    this.#connections.push(connection);
    return connection;
  }

  async #install(): Promise<void> {
    for (const kind of KINDS) await this.admin.create(CustomResourceDefinition, crdOf(kind) as unknown as AnyObject);
    for (const name of [NS, 'openstack-operator-system'])
      await this.admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const object of rbac(this.#plans, { name: NAME, scope: this.#scope }) as AnyObject[]) {
      const subjects = object.subjects !== undefined && [
        { kind: 'User', name: 'operator', apiGroup: 'rbac.authorization.k8s.io' },
      ];
      await this.admin.create(role(object.kind), { ...object, ...(subjects && { subjects }) } as AnyObject);
    }
    await this.until(async () => {
      const crds = await this.admin.list<AnyObject>(CustomResourceDefinition);
      return (
        crds.items.length === KINDS.length &&
        crds.items.every(crd => conditions(crd).some(c => c.type === 'Established' && c.status === 'True'))
      );
    }, 'CRDs are established');
  }

  startOperator(options: Partial<OperatorOptions> = {}): void {
    this.#stopOperator = this.startOther('operator', options);
  }

  /** An operator as this user; gives what stops it. */
  startOther(user: User, options: Partial<OperatorOptions>): () => Promise<void> {
    const abort = new AbortController();
    const connection = this.connect(user);
    const operator = createOperator({
      world: {
        cluster: this.wrap(user, connection),
        cloud: this.backends.cloud,
        clock: realClock,
        random: realRandom,
      },
      plans: this.#plans,
      namespaces: this.#scope.namespaces,
      ...options,
    });
    const ended = operator.manager.run(abort.signal);
    ended.catch(() => undefined);
    return async () => {
      abort.abort(new Error('stop'));
      await ended;
      await connection.close();
    };
  }

  async stopOperator(): Promise<void> {
    await this.#stopOperator?.();
    this.#stopOperator = undefined;
  }

  apply(resource: Resource, object: object): Promise<AnyObject> {
    const { metadata, ...rest } = object as AnyObject;
    return this.admin.apply(resource, { ...rest, metadata: { ...metadata, namespace: NS } } as AnyObject, {
      manager: 'kubectl',
      force: true,
    });
  }

  async ready(resource: Resource, name: string, seconds = 60): Promise<void> {
    let last: AnyObject | undefined;
    await this.until(
      async () => {
        last = await this.admin.get<AnyObject>(resource, { namespace: NS, name });
        const status = last?.status as { observedGeneration?: number } | undefined;
        return (
          status?.observedGeneration === last?.metadata.generation &&
          conditions(last).some(c => c.type === 'Ready' && c.status === 'True')
        );
      },
      () => `${resource.kind} ${name} is Ready: ${JSON.stringify(conditions(last), null, 1)}`,
      seconds,
    );
  }

  async until(done: () => Promise<boolean>, what: string | (() => string), seconds = 60): Promise<void> {
    const end = performance.now() + seconds * 1000;
    while (!(await done())) {
      if (performance.now() > end)
        throw new Error(`not within ${seconds} s: ${typeof what === 'string' ? what : what()}`);
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }

  /** Requests of the operator that the authorizer refused, reads included. */
  refused(): string[] {
    return this.#audit()
      .filter(a => a.responseStatus?.code === 403)
      .map(a => `${a.verb} ${a.requestURI}`);
  }

  #audit(): Audit[] {
    return readFileSync(this.server.auditLog, 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as Audit)
      .filter(a => a.user.username === 'operator');
  }

  /** Mutating requests of the operator in the audit log, Leases and Events left out (rule 14). */
  writes(): { verb: string; uri: string; code: number }[] {
    return this.#audit()
      .filter(a => !['get', 'list', 'watch'].includes(a.verb) && !/\/(events|leases)/.test(a.requestURI))
      .map(a => ({ verb: a.verb, uri: a.requestURI, code: a.responseStatus?.code ?? 0 }));
  }

  async stop(): Promise<void> {
    await this.stopOperator();
    await this.pretenders.stop();
    for (const connection of this.#connections) await connection.close();
    await this.server.stop();
  }
}

interface Audit {
  user: { username: string };
  verb: string;
  requestURI: string;
  responseStatus?: { code: number };
}

const conditions = (object: AnyObject | undefined): readonly Condition[] =>
  (object?.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
