import { expect, it } from 'vitest';
import { secretsNamed } from './mounted.ts';

it('finds every Secret that a pod template names, once', () => {
  expect(
    secretsNamed({
      imagePullSecrets: [{ name: 'registry' }],
      volumes: [
        { name: 'config', secret: { secretName: 'config' } },
        { name: 'again', secret: { secretName: 'config' } },
        { name: 'both', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'map' } }] } },
        { name: 'driver', csi: { driver: 'secrets-store.csi.k8s.io', nodePublishSecretRef: { name: 'publish' } } },
        { name: 'run', hostPath: { path: '/run' } },
      ],
      initContainers: [{ name: 'init', envFrom: [{ secretRef: { name: 'all-of-it' } }] }],
      containers: [{ name: 'main', env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'one', key: 'key' } } }] }],
    }),
  ).toEqual(['config', 'projected', 'publish', 'registry', 'all-of-it', 'one']);
});
