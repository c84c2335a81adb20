import type { BaseStatus, CustomObject } from '../../../api/schema/kind.ts';

/** What a plan reconciles: an object of ours. */
export type Managed = CustomObject<object, BaseStatus>;
