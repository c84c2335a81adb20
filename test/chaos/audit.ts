import type { Store } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { Request } from '../../src/kube/transport.ts';
import { MANAGED_LABEL, RETAINED_LABEL } from '../../src/runtime/plan/names.ts';

interface Write {
  readonly user: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** Made and unmade by the cluster's own controllers as they please: how often is not ours to judge. */
const CLUSTERS_OWN = /\/(pods|replicasets|controllerrevisions|events|leases|nodes|endpointslices)(\/|$)/;
const BESIDE = /\/(events|leases)(\/|$)/;
/** Secrets made once, and then only read; the token keys rotate by design, on a schedule that no run here reaches. */
export const GENERATED =
  /-(root|admin|database|message-bus|identity|fernet-keys|credential-keys|metadata-secret|key|stack-domain|trustee)$/;

/** Sees every request in the order in which the store commits it, and judges those of the operator (oracle O8). */
export class Audit {
  readonly writes: Write[] = [];
  readonly violations: string[] = [];

  readonly wrap = (store: Store): Store => ({
    ...store,
    handle: (request, user = '') => {
      if (request.method === 'GET') return store.handle(request, user);
      const ours = user.startsWith('operator') && !BESIDE.test(request.path);
      const before = ours ? read(store, request.path) : undefined;
      if (before && request.method === 'DELETE') this.#judgeDelete(store, request, before);
      const answer = store.handle(request, user);
      this.writes.push({ user, method: request.method, path: request.path, status: answer.status });
      if (before && answer.status < 300) this.#judgeSecret(request, before, answer.body as AnyObject);
      return answer;
    },
  });

  /** How often each object came into being, up to write number `end` (oracle O2). Hashes in names are masked. */
  created(end = this.writes.length): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { status, path, method } of this.writes.slice(0, end)) {
      if (status !== 201 || method === 'PUT' || CLUSTERS_OWN.test(path)) continue;
      // A create by POST has no name in its path; only the cluster's controllers send those, for claims.
      const key = path.replace(/-[0-9a-f]{8,10}$/, '-HASH');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  /** Writes of operators that are neither Events nor Leases. */
  operatorWrites(): readonly Write[] {
    return this.writes.filter(w => w.user.startsWith('operator') && !BESIDE.test(w.path));
  }

  /** Who wrote after somebody else had taken over. */
  interleaved(): string[] {
    const seen: string[] = [];
    const bad: string[] = [];
    for (const { user, method, path } of this.operatorWrites()) {
      if (seen.at(-1) === user) continue;
      if (seen.includes(user)) bad.push(`${user} wrote ${method} ${path} after ${seen.at(-1)} had taken over`);
      seen.push(user);
    }
    return bad;
  }

  #judgeDelete(store: Store, request: Request, before: AnyObject): void {
    const what = `${before.kind} ${before.metadata.name}`;
    const uid = (request.body as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid;
    if (!uid) this.violations.push(`${what} was deleted without a UID`);
    if (uid && uid !== before.metadata.uid) return;
    const retained = before.metadata.labels?.[RETAINED_LABEL] !== undefined;
    if (before.kind !== 'PersistentVolumeClaim' && !retained) return;
    const owner = ownerOf(store, before);
    const policy = (owner?.spec as { deletionPolicy?: string } | undefined)?.deletionPolicy;
    if (!owner?.metadata.deletionTimestamp || policy !== 'Delete')
      this.violations.push(`${what} was deleted while ${owner ? `its owner says ${policy}` : 'nobody asked for it'}`);
  }

  #judgeSecret(request: Request, before: AnyObject, after: AnyObject): void {
    if (before.kind !== 'Secret' || request.method === 'DELETE' || !GENERATED.test(before.metadata.name)) return;
    // Nova's are made with the login and completed with the address: adding is no replacing.
    const now = (after.data ?? {}) as Record<string, string>;
    if (Object.entries((before.data ?? {}) as Record<string, string>).some(([key, value]) => now[key] !== value))
      this.violations.push(`the values of Secret ${before.metadata.name} were replaced`);
  }
}

const read = (store: Store, path: string): AnyObject | undefined => {
  const answer = store.handle({ method: 'GET', path: path.replace(/\/status$/, '') });
  return answer.status === 200 ? (answer.body as AnyObject) : undefined;
};

/** By the labels that every object of ours carries, because what is retained has no owner reference. */
const ownerOf = (store: Store, object: AnyObject): AnyObject | undefined =>
  store
    .objects()
    .find(
      o =>
        o.metadata.namespace === object.metadata.namespace &&
        o.metadata.labels?.[MANAGED_LABEL] === 'true' &&
        o.kind.toLowerCase() === object.metadata.labels?.['app.kubernetes.io/name'] &&
        o.metadata.name === object.metadata.labels?.['app.kubernetes.io/instance'],
    );
