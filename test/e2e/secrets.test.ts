import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { AnyObject } from '../../src/kube/object.ts';
import { embeddedStage } from './embedded.ts';
import { secretStories } from './secrets.stories.ts';

const sample = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };

secretStories(embeddedStage, {
  cloud: nova => ({ ...sample, spec: { ...sample.spec, nova } }),
  name: 'minimal',
  // A pretended hypervisor, because no node here is labelled for guests.
  cells: { cell0: {}, cell1: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } } },
});
