import { apply } from './apply.ts';
import { apps } from './apps.ts';
import { batch } from './batch.ts';
import { core } from './core.ts';
import { crd } from './crd.ts';
import { errors } from './errors.ts';
import { patch } from './patch.ts';
import { rbac } from './rbac.ts';
import { watch } from './watch.ts';

/** In this order: the later areas use the CRD of the fifth. */
export const script = [...core, ...apps, ...batch, ...rbac, ...crd, ...apply, ...patch, ...watch, ...errors];
