import * as z from 'zod';
import type { Condition, KubeObject } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { rule, type ValidationRule, withRules } from './helpers.ts';
import { statusSchemaOf } from './status.ts';

/** A column of `kubectl get`. `priority: 1` shows only with `-o wide`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: number;
}

/** The result of one entry of `spec.actions`, kept so that an id runs once. */
export interface ActionResult {
  name: string;
  id: string;
  state: 'Running' | 'Done' | 'Failed';
  message?: string;
  completionTime?: string;
}

interface ObjectReference {
  kind: string;
  name: string;
  /** Absent for what is in no namespace. */
  namespace?: string;
}

/** Why a condition is not True, for programs: they read these fields, and no message. */
export interface StatusCause {
  /** The condition; `CellsReady.cell1` for one key of a condition that sums up several. */
  type: string;
  /** Of the cause itself: the condition of an object that only waits for another one may say `NotReady`. */
  reason: string;
  actor: 'User' | 'Operator' | 'Cluster';
  /** The object concerned. */
  object: ObjectReference;
  /** An object of ours that has the cause. */
  waitsFor?: ObjectReference;
  /** Of Ready: the condition that it tells of. */
  condition?: string;
  /** Of a condition that sums up several keys: the one that it tells of. */
  key?: string;
  /** For people: what happens next. */
  next?: string;
  /** What a command to mend it needs: field, keys, host, ...; `said` are words of another program. */
  details?: Record<string, string>;
}

/** What the engine writes on every kind. Everything is optional: a new object has no status at all. */
export interface BaseStatus {
  observedGeneration?: number;
  conditions?: Condition[];
  causes?: StatusCause[];
  /** Inputs of work that runs once per input (jobs, config), by step name. */
  hashes?: Record<string, string>;
  /** The release that runs now; differs from spec.release during an upgrade. */
  release?: string;
  actions?: ActionResult[];
  /** Pods wanted and ready, over all workloads of the object. */
  replicas?: number;
  readyReplicas?: number;
  /** URL by interface (`public`, `internal`); on the control plane by service. */
  endpoints?: Record<string, string>;
  /** Things outside Kubernetes that were adopted because the user said so. */
  adopted?: string[];
  /** Since when data is missing that had been there. */
  lostSince?: string;
}

/** A custom object as the API server returns it: with a defaulted spec, perhaps without status. */
export interface CustomObject<Spec, Status = BaseStatus> extends KubeObject {
  spec: Spec;
  status?: Status;
}

/**
 * A kind of ours. `Input` is what a user may write, `Spec` what is read back after the API server defaulted it.
 * Controllers use the value as a `Resource` and the two types; zod itself only runs where `specSchema` is touched
 * (the generator, the CLI, tests), because the API server has already validated what a controller reads.
 */
export interface Kind<Input extends object = object, Spec extends object = object, S extends object = object>
  extends Resource {
  readonly namespaced: true;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly columns: readonly Column[];
  readonly description: string;
  /** CEL over the whole object: only its name can be seen there besides spec and status. */
  readonly nameRules: readonly ValidationRule[];
  readonly specSchema: z.ZodType<Spec, Input>;
  /** Names of the fields directly under spec. */
  readonly specFields: readonly string[];
  readonly statusSchema: z.ZodType<S>;
}

export type AnyKind = Kind<object, object, object>;

export type InputOf<K> = K extends Kind<infer Input, infer _Spec, infer _S> ? Input : never;
export type SpecOf<K> = K extends Kind<infer _Input, infer Spec, infer _S> ? Spec : never;
export type StatusOf<K> = K extends Kind<infer _Input, infer _Spec, infer S> ? S : never;
export type ObjectOf<K> = CustomObject<SpecOf<K>, StatusOf<K>>;

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface Definition<Shape extends z.ZodRawShape, StatusShape extends z.ZodRawShape> {
  readonly in: GroupVersion;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  /**
   * Longest name. It becomes part of Service, pod and database names, so it must be short and start with a letter;
   * `none` for kinds whose objects are named after hosts and runs.
   */
  readonly nameLimit?: number | 'none';
  /** Columns between NAME and READY. */
  readonly columns?: readonly Column[];
  readonly spec: () => Shape;
  /** CEL over the whole spec, e.g. for optional immutable fields (engine rule 25). */
  readonly rules?: readonly ValidationRule[];
  /** Fields that this kind's status has beyond BaseStatus. */
  readonly status?: () => StatusShape;
}

type Simplify<T> = { [K in keyof T]: T[K] } & {};

const READY_COLUMNS: readonly Column[] = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'True when everything this object asks for exists and responds',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why, in one word',
  },
  {
    name: 'Message',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].message',
    description: 'What happens next and who must act',
    priority: 1,
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation' },
];

/** A third of the 63 characters of a label is left for `-api`, `-db-sync-<hash>` and the ordinal of a pod. */
const DEFAULT_NAME_LIMIT = 40;

const nameRule = (limit: number): ValidationRule =>
  rule(
    `self.metadata.name.size() <= ${limit} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
    `the name becomes part of Service names: at most ${limit} lower case letters, digits and dashes, a letter first`,
  );

export function kind<Shape extends z.ZodRawShape, StatusShape extends z.ZodRawShape = Record<never, never>>(
  definition: Definition<Shape, StatusShape>,
): Kind<
  Simplify<z.input<z.ZodObject<Shape, z.core.$strict>>>,
  Simplify<z.output<z.ZodObject<Shape, z.core.$strict>>>,
  BaseStatus & Simplify<z.output<z.ZodObject<StatusShape, z.core.$strip>>>
> {
  type Input = Simplify<z.input<z.ZodObject<Shape, z.core.$strict>>>;
  type Spec = Simplify<z.output<z.ZodObject<Shape, z.core.$strict>>>;
  type S = BaseStatus & Simplify<z.output<z.ZodObject<StatusShape, z.core.$strip>>>;
  let spec: z.ZodType<Spec, Input> | undefined;
  let status: z.ZodType<S> | undefined;
  let fields: readonly string[] | undefined;
  return {
    ...definition.in,
    kind: definition.kind,
    plural: definition.plural,
    singular: definition.kind.toLowerCase(),
    namespaced: true,
    shortNames: definition.shortNames,
    columns: [...(definition.columns ?? []), ...READY_COLUMNS],
    description: definition.description,
    nameRules: definition.nameLimit === 'none' ? [] : [nameRule(definition.nameLimit ?? DEFAULT_NAME_LIMIT)],
    get specSchema() {
      spec ??= withRules(z.strictObject(definition.spec()), definition.rules ?? []) as unknown as z.ZodType<
        Spec,
        Input
      >;
      return spec;
    },
    get specFields() {
      fields ??= Object.keys(definition.spec());
      return fields;
    },
    get statusSchema() {
      status ??= statusSchemaOf(definition.status?.() ?? {}, Object.keys(definition.spec())) as unknown as z.ZodType<S>;
      return status;
    },
  };
}
