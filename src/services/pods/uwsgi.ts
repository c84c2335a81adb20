import type { Probe } from 'kubernetes-types/core/v1.d.ts';
import { python } from '../../world/quote/python.ts';
import type { ConfigFile } from '../config/config.ts';
import { CA_BUNDLE, OWN_CERTIFICATE, OWN_KEY } from '../tls/trust.ts';

export interface Uwsgi {
  readonly service: string;
  readonly port: number;
  /** `package.module:application`; the start scripts of older releases are gone (openstack-facts 0). */
  readonly module: string;
  /** Where several applications of one object have a file each. */
  readonly key?: string;
  readonly processes?: number;
  /** With the certificate of its object. */
  readonly tls?: boolean;
  /**
   * Clients send bodies in chunks. uWSGI's own TLS loses those whose record comes in two parts (2.0.31, core/chunked.c),
   * so its router ends TLS. The price: a stop or a renewed certificate cuts what is under way.
   */
  readonly chunked?: boolean;
  /** It also answers under this path: `/identity`. Not where links in its answers would not follow. */
  readonly under?: string;
  /** Settings that only this application needs. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** How probes ask it. */
export interface Asked {
  /** A path that costs nothing. */
  readonly health: string;
  /** What they call it, where it does not answer to any name. */
  readonly host?: string;
}

/**
 * A reload loads the application anew, which took half a minute when all of a cloud did. The socket stays open, so who
 * waits is served; who finds no endpoint is refused. So it is no endpoint after a minute, not after half of one.
 */
export function uwsgiProbes({
  port,
  tls,
  health: path,
  host,
}: Uwsgi & Asked): Record<'startup' | 'readiness' | 'liveness', Probe> {
  const named = host !== undefined && { httpHeaders: [{ name: 'Host', value: host }] };
  const asked: Probe = { httpGet: { path, port, ...(tls && { scheme: 'HTTPS' }), ...named } };
  return {
    startup: { ...asked, periodSeconds: 2, failureThreshold: 150 },
    readiness: { ...asked, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    liveness: { ...asked, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 4 },
  };
}

/** One worker would let a slow request starve the probe. */
export const PROCESSES = 2;

/** One file per worker that has loaded its application, named by its pid. */
const LOADED = '/tmp/uwsgi-loaded-';

/**
 * A worker that gets SIGTERM while it loads its application ignores it, and its master then waits for ever (seen: ten
 * minutes, until the kubelet's patience with Glance ended). So it gets none before.
 */
export const uwsgiLoaded = ({ processes = PROCESSES }: Uwsgi): string =>
  `for second in $(seq 60); do loaded=0; for file in ${LOADED}*; do [ ! -d "/proc/\${file##*-}" ] || loaded=$((loaded + 1)); done; ` +
  `[ $loaded -lt ${processes} ] || break; sleep 1; done`;

const path = (service: string): string => `/etc/uwsgi/${service}.ini`;
const wrapper = (service: string): string => `/etc/uwsgi/${service}.py`;

export const uwsgiArgv = (service: string): string[] => ['uwsgi', '--ini', path(service)];

export const uwsgiFiles = (app: Uwsgi): readonly ConfigFile[] => [
  uwsgiFile(app),
  ...(app.under ? [wrapperFile(app, app.under)] : []),
];

const keyOf = (app: Uwsgi): string => app.key ?? 'uwsgi.ini';

/**
 * Moves the path to SCRIPT_NAME, from which applications make their links; requests of the cloud's own parts, without it,
 * pass as they are. Not by uWSGI's `mount` and `manage-script-name`, which do the same but leave SCRIPT_NAME out of the
 * environment for `/` (2.0.31, core/protocol.c: path_info_len > 1): Nova 2025.2 then fails with KeyError and answers nothing,
 * and `/` is what probes and clients ask first. Its `route`s need PCRE, which the one from PyPI does not have. An empty
 * path becomes `/`, for which Placement asks no token.
 */
function wrapperFile(app: Uwsgi, under: string): ConfigFile {
  const [module = '', name = 'application'] = app.module.split(':');
  const text = `from ${module} import ${name} as api

UNDER = ${python(under)}


def application(environ, start_response):
    path = environ.get("PATH_INFO", "")
    if path == UNDER or path.startswith(UNDER + "/"):
        environ["SCRIPT_NAME"] = UNDER
        environ["PATH_INFO"] = path[len(UNDER):] or "/"
    return api(environ, start_response)
`;
  return { key: keyOf(app).replace(/\.ini$/, '.py'), path: wrapper(app.service), text };
}

export function uwsgiFile(app: Uwsgi): ConfigFile {
  const settings: Record<string, string | number> = {
    master: 'true',
    'die-on-term': 'true',
    // Finish what is running when asked to stop.
    'hook-master-start': 'unix_signal:15 gracefully_kill_them_all',
    'worker-reload-mercy': 80,
    // A container that is started again has the same /tmp, and its workers the same pids.
    'hook-asap': `exec:rm -f ${LOADED}*`,
    'hook-accepting': `exec:touch ${LOADED}$PPID`,
    'lazy-apps': 'true',
    'enable-threads': 'true',
    'thunder-lock': 'true',
    // Without it a broken application answers 500 for ever instead of failing where it is seen.
    'need-app': 'true',
    'buffer-size': 65535,
    'socket-timeout': 30,
    'add-header': 'Connection: close',
    ...(app.tls
      ? {
          [app.chunked ? 'https' : 'https-socket']: `0.0.0.0:${app.port},${OWN_CERTIFICATE},${OWN_KEY}`,
          ...(app.chunked && { 'http-timeout': 600, 'http-buffer-size': 65535 }),
          // A renewed certificate: workers end what they do, the socket stays open, and nobody is turned away.
          'touch-reload': OWN_CERTIFICATE,
          // Another CA, which clients of memcached read once: one worker after the other.
          'touch-chain-reload': CA_BUNDLE,
        }
      : { 'http-socket': `0.0.0.0:${app.port}` }),
    'http-auto-chunked': 'true',
    'http-chunked-input': 'true',
    // Glance's client sends a MiB at once, which with its line end is more than uWSGI's default allows.
    'chunked-input-limit': 16 * 1024 * 1024,
    processes: app.processes ?? PROCESSES,
    ...(app.under ? { 'wsgi-file': wrapper(app.service) } : { module: app.module }),
    virtualenv: '/var/lib/kolla/venv',
    // Distributions load Python as a plugin, the one from PyPI has it inside and only notes that it found none.
    'plugins-dir': '/usr/lib/uwsgi/plugins',
    plugins: 'python3',
    'disable-logging': 'true',
    'log-5xx': 'true',
    ...app.settings,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
  return { key: keyOf(app), path: path(app.service), text: `[uwsgi]\n${lines.join('')}` };
}
