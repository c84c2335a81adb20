import type { Plan } from '../../runtime/plan/row.ts';
import { novaCell } from './cell.ts';
import { novaCompute } from './compute.ts';
import { nova } from './index.ts';
import { novaApi, novaConductor, novaMetadata, novaNoVNCProxy, novaScheduler } from './processes.ts';

/** Nova and its parts: each kind is a controller of its own. */
export const novaPlans = [
  nova,
  novaCell,
  novaApi,
  novaScheduler,
  novaConductor,
  novaMetadata,
  novaNoVNCProxy,
  novaCompute,
] as readonly Plan<never>[];
