import type { Shown } from '../tls/certificate.ts';
import { CA_FOLDER, OWN_FOLDER, type Trust } from '../tls/trust.ts';
import type { ProcessVolume } from './pod.ts';

/** What the pods mount. Not part of their config: a renewed certificate is read where it lies, or by a signal. */
export function tlsVolumes(trust: Trust | undefined, shown?: Shown): readonly ProcessVolume[] {
  const volumes: ProcessVolume[] = [];
  if (trust)
    volumes.push({
      name: 'ca-bundle',
      mountPath: CA_FOLDER,
      readOnly: true,
      secret: { secretName: trust.secret, defaultMode: 0o444 },
    });
  if (shown)
    volumes.push({
      name: 'tls',
      mountPath: OWN_FOLDER,
      readOnly: true,
      secret: {
        secretName: shown.secret,
        defaultMode: 0o440,
        items: ['tls.crt', 'tls.key'].map(key => ({ key, path: key })),
      },
    });
  return volumes;
}

/** Jobs call others and serve nobody. */
export const isBundle = (volume: ProcessVolume): boolean => volume.mountPath === CA_FOLDER;
