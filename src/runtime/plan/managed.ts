import type { BaseStatus, CustomObject } from '../../../api/kind.ts';

/** What a plan reconciles: an object of ours. */
export type Managed = CustomObject<object, BaseStatus>;
