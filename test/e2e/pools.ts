import { rbd } from '../../lab/cluster/ceph.ts';
import { Secret } from '../../src/kube/resource.ts';
import type { LabStage } from './lab.ts';
import { valueIn } from './stage.ts';

/** What is in the pool that this cloud has for a purpose. */
export const inPool = async (stage: LabStage, purpose: 'images' | 'vms' | 'volumes' | 'backups'): Promise<string> =>
  rbd('ls', `${purpose}-${await valueIn(stage, 'ceph-glance', 'poolSuffix', Secret)}`);
