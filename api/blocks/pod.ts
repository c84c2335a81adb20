import * as z from 'zod';
import { group, int, list, map, objectName, open, quantity, text } from '../schema/helpers.ts';

export const customServiceConfig = (format = 'oslo.config text') => ({
  customServiceConfig: text(`${format} that wins over everything the operator writes, kept verbatim.`).optional(),
});

const config = (format?: string) => ({
  ...customServiceConfig(format),
  customServiceConfigSecrets: list(
    objectName('Name of a Secret.'),
    'Secrets with config files read after customServiceConfig, in this order: for passwords.',
    16,
  ).optional(),
  defaultConfigOverwrite: map(
    z.string().describe('Content of the file.'),
    "Whole files to replace, by name: those that the service allows, e.g. policy.yaml; config.json is Kolla's.",
    16,
  ).optional(),
});

const scheduling = () => ({
  resources: group(
    {
      requests: map(quantity('Amount.'), 'What the scheduler sets aside, e.g. cpu: 100m, memory: 512Mi.').optional(),
      limits: map(quantity('Amount.'), 'What the container may use at most.').optional(),
    },
    'CPU and memory of the main container.',
  ).optional(),
  nodeSelector: map(z.string().describe('Label value.'), 'Labels that a node must have to run the pods.').optional(),
  tolerations: list(open('A Toleration of core/v1.'), 'Taints that the pods tolerate.', 32).optional(),
  topologySpread: list(
    open('A TopologySpreadConstraint of core/v1; labelSelector may be absent.'),
    'How pods spread over nodes or zones; absent: softly over nodes.',
    8,
  ).optional(),
  priorityClassName: objectName('PriorityClass of the pods.').optional(),
});

/** Everything about pods but their number. */
export const pods = (configFormat?: string) => ({
  ...scheduling(),
  image: text('Image of the main container, instead of that of the release.').min(1).max(512).optional(),
  ...config(configFormat),
  extraMounts: list(
    open('A core/v1 Volume (name and source) plus mountPath, subPath, readOnly.'),
    'Extra volumes in the pods.',
    32,
  ).optional(),
  override: open(
    'Last resort: service and podTemplate are merged over what the operator generates; null deletes a field.',
  ).optional(),
});

const MAX_REPLICAS = 32;

export const replicas = (value = 1) => ({
  replicas: int(0, MAX_REPLICAS, 'Number of pods; 0 stops the service and keeps its data.').default(value),
});

/** A quorum of two is worse than one member: either stops the cluster. */
export const quorumReplicas = () => ({
  replicas: int(1, 3, 'Number of members: 1, or 3 for high availability. Can be edited in both directions.')
    .refine(n => n !== 2, 'must be 1 or 3')
    .meta({ 'x-kubernetes-validations': [{ rule: 'self == 1 || self == 3', message: 'must be 1 or 3' }] })
    .default(1),
});

/** One process of a service that has several: what is not set here comes from the service. */
export const template = () => ({
  replicas: int(0, MAX_REPLICAS, 'Number of pods, instead of the number of the service.').optional(),
  ...pods(),
});
