import type { Container } from 'kubernetes-types/core/v1.d.ts';
import type { ProcessVolume } from '../pods/pod.ts';
import { CREDENTIAL_KEYS, FERNET_KEYS } from './config.ts';

/*
 * The folder of a Secret volume can be listed by everybody, whatever the mode of its files (the kubelet makes it 0777), and
 * Keystone warns of a key repository like that. So it reads copies, in folders of its own user with mode 0700, in memory.
 * The first copy is made before it starts; from then on keys that are rotated follow within seconds, without a restart.
 */

export interface KeySecrets {
  readonly fernet: string;
  readonly credential: string;
}

const MODE = 0o440;
const SOURCES = '/var/lib/openstack/keystone';
/** Where the whole volume of copies is mounted, while they are made for the first time. */
const COPIES = `${SOURCES}/copies`;
const REPOSITORIES = [
  { name: 'fernet-keys', path: FERNET_KEYS, secret: 'fernet' },
  { name: 'credential-keys', path: CREDENTIAL_KEYS, secret: 'credential' },
] as const;

/** How versions before this one mounted them. Pods that run so are not restarted for it. */
export const earlierVolumes = (secrets: KeySecrets): readonly ProcessVolume[] =>
  REPOSITORIES.map(({ name, path, secret }) => ({
    name,
    mountPath: path,
    readOnly: true,
    secret: { secretName: secrets[secret], defaultMode: MODE },
  }));

const sources = (secrets: KeySecrets): readonly ProcessVolume[] =>
  REPOSITORIES.map(({ name, secret }) => ({
    name,
    mountPath: `${SOURCES}/${name}`,
    readOnly: true,
    secret: { secretName: secrets[secret], defaultMode: MODE },
  }));

export const keyVolumes = (secrets: KeySecrets): readonly ProcessVolume[] => [
  ...sources(secrets),
  ...REPOSITORIES.map(({ name, path }) => ({
    name: 'keys',
    mountPath: path,
    subPath: name,
    emptyDir: { medium: 'Memory' },
  })),
];

/**
 * The highest key first: the one that signs must be there before the staged one changes. Names are read once, from one
 * generation of the Secret: should the kubelet replace it meanwhile, a copy fails and nothing is removed.
 */
const copy = (to: string): string => `umask 077
copy() {
  from=$(readlink -f "$1/..data") && keys=$(ls "$from" | sort -rn) && [ -n "$keys" ] && mkdir -p "$2" || return 1
  for key in $keys; do
    cmp -s "$from/$key" "$2/$key" || { cat "$from/$key" > "$2/.$key" && mv "$2/.$key" "$2/$key"; } || return 1
  done
  for key in $(ls "$2"); do
    case " $(echo $keys) " in *" $key "*) ;; *) rm -f "$2/$key" ;; esac
  done
}
all() {
${REPOSITORIES.map(({ name }) => `  copy ${SOURCES}/${name} ${to}/${name}`).join(' &&\n')}
}
`;

/** Makes the copies that a process starts with. */
export const keyCopier = (image: string, secrets: KeySecrets): Container => ({
  name: 'keys',
  image,
  command: ['sh', '-c', `${copy(COPIES)}all\n`],
  volumeMounts: [
    ...sources(secrets).map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
    { name: 'keys', mountPath: COPIES },
  ],
});

const SECONDS = 10;

/** Keeps them up to date beside the process; the kubelet may take a minute to bring a new key, this ten seconds more. */
export const KEEP_KEYS = `${copy('/etc/keystone')}(while :; do all; sleep ${SECONDS}; done) </dev/null >/dev/null 2>&1 &
`;
