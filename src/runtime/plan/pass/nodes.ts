import type { AnyObject } from '../../../kube/object.ts';
import { Namespace } from '../../../kube/resource.ts';
import { NODE_OBJECTS, NODES_OF_LABEL, SKIP_UNDO_ANNOTATION } from '../names.ts';
import { stall, subjectOf, wait } from '../unmet.ts';
import { LOOK_AGAIN_MS, type Walk } from './walk.ts';

/** What a namespace admits. */
const ENFORCE = 'pod-security.kubernetes.io/enforce';

/** Whether the namespace that spec.nodeNamespace names may be used. */
export class NodeNamespace {
  readonly #walk: Walk;
  #nodesAdmit: Promise<void> | undefined;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  /** Nothing is seen of a namespace that is not served, which is not the same as that nothing is there. */
  readable(at: string): void {
    if (at !== this.#walk.home && !this.#givesUpNodes) this.nodesServed();
  }

  /** Somebody has said that what lies there is left behind. */
  get #givesUpNodes(): boolean {
    const { deletionTimestamp, annotations } = this.#walk.object.metadata;
    const skipped = (annotations?.[SKIP_UNDO_ANNOTATION] ?? '').split(',').map(name => name.trim());
    return deletionTimestamp !== undefined && skipped.includes(NODE_OBJECTS);
  }

  nodesServed(): void {
    const { namespaces = [] } = this.#walk.shared;
    if (namespaces.length === 0 || namespaces.includes(this.#walk.nodes)) return;
    const both = [...namespaces, this.#walk.nodes].join(',');
    throw stall({
      reason: 'NamespaceNotServed',
      about: subjectOf(Namespace, this.#walk.nodes),
      field: 'spec.nodeNamespace',
      what: `Namespace ${this.#walk.nodes}, named in spec.nodeNamespace, is not one that this operator serves (--namespaces ${namespaces.join(',')})`,
      who: 'User',
      next: `give the operator rights in both and start it so: make overlay ARGS="--namespaces ${both}", then kubectl apply -k the folder that it writes`,
    });
  }

  /** Asked once per pass, before something is made, changed or taken over there, and of the server: it is in no informer. */
  nodesAdmitPods(): Promise<void> {
    const check = async (): Promise<void> => {
      this.nodesServed();
      const name = this.#walk.nodes;
      const live = await this.#walk.client.get<AnyObject>(Namespace, { namespace: '', name });
      if (live === undefined)
        throw stall({
          reason: 'NamespaceNotFound',
          about: subjectOf(Namespace, name),
          what: `Namespace ${name}, named in spec.nodeNamespace, does not exist`,
          who: 'User',
          next: `create it: kubectl create namespace ${name} && kubectl label namespace ${name} ${ENFORCE}=privileged ${NODES_OF_LABEL}=${this.#walk.home}`,
          after: LOOK_AGAIN_MS,
        });
      const given = live.metadata.labels?.[NODES_OF_LABEL];
      if (given !== this.#walk.home)
        throw stall({
          reason: 'NamespaceNotGiven',
          about: subjectOf(Namespace, name),
          what: `Namespace ${name}, named in spec.nodeNamespace, is not there for pods of namespace ${this.#walk.home}${given === undefined ? '' : `, but for those of ${given}`}`,
          who: 'User',
          next: `use another one; or, if it is meant for them and for nothing else, run: kubectl label --overwrite namespace ${name} ${NODES_OF_LABEL}=${this.#walk.home}`,
          after: LOOK_AGAIN_MS,
        });
      if (live.metadata.deletionTimestamp)
        throw wait({
          reason: 'Terminating',
          about: subjectOf(Namespace, name),
          what: `Namespace ${name}, named in spec.nodeNamespace, is being deleted`,
          who: 'Cluster',
          next: 'finish deleting it; then create it again',
          after: LOOK_AGAIN_MS,
        });
      const level = live.metadata.labels?.[ENFORCE];
      if (level !== undefined && level !== 'privileged')
        throw stall({
          reason: 'NamespaceRefusesPods',
          about: subjectOf(Namespace, name),
          what: `Namespace ${name}, named in spec.nodeNamespace, enforces PodSecurity ${level}, which refuses pods of the node`,
          who: 'User',
          next: `run: kubectl label --overwrite namespace ${name} ${ENFORCE}=privileged`,
          after: LOOK_AGAIN_MS,
        });
    };
    this.#nodesAdmit ??= check();
    return this.#nodesAdmit;
  }
}
