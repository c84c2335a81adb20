import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { authorityFrom, makeAuthority } from '../src/real/certificate.ts';
import { cache } from './paths.ts';

/**
 * Prints a Secret NAME with a certificate for every Service of the namespace: `tls.secretName` of a cloud without
 * cert-manager. Again: renewed by the same authority; with --new-authority by another one.
 */
const [name = 'cert', ...flags] = process.argv.slice(2);
const namespace = process.env.LAB_NAMESPACE ?? 'openstack';
const kept = join(cache, 'lab-authority.json');

function authority() {
  if (existsSync(kept) && !flags.includes('--new-authority')) {
    const { ca, key } = JSON.parse(readFileSync(kept, 'utf8')) as { ca: string; key: string };
    return authorityFrom('openstack-operator lab', ca, key, Date.now());
  }
  const made = makeAuthority('openstack-operator lab', Date.now());
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, JSON.stringify({ ca: made.ca, key: made.key }), { mode: 0o600 });
  return made;
}

const services = `${namespace}.svc.cluster.local`;
const below = ['glance-api-members', 'memcached'].map(service => `*.${service}.${services}`);
const { ca, cert, key } = authority().issue({ names: [`*.${services}`, ...below] });
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca },
};
console.log(JSON.stringify(secret, null, 2));
