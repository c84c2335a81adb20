import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { AnyObject } from '../../src/kube/object.ts';
import { labStage } from './lab.ts';
import { secretStories } from './secrets.stories.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const yaml = parse(readFileSync('lab/cloud.yaml', 'utf8')) as AnyObject & { spec: { nova: object } };

/** On the cloud of `make lab-cloud`, or on one that it makes. */
secretStories(() => labStage(process.env.LAB_NAMESPACE ?? 'openstack'), {
  cloud: nova => ({ ...yaml, spec: { ...yaml.spec, release, nova: { ...yaml.spec.nova, ...nova } } }),
  name: 'cloud',
  cells: { cell0: {}, cell1: { novaComputeTemplates: { libvirt: {} } } },
});
