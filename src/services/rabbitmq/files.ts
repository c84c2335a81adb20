import { rabbitValue } from '../../world/quote/rabbitmq.ts';
import { portsOf } from '../backends/rabbitmq.ts';
import type { ConfigFile } from '../config/config.ts';
import type { Login } from '../links/credentials.ts';
import { overTls } from '../tls/certificate.ts';
import { OWN_CERTIFICATE, OWN_KEY } from '../tls/trust.ts';

/** Files are read anew for new connections, two minutes after they changed at the latest: Erlang's cache of them. */
const encrypted = (ports: ReturnType<typeof portsOf>): readonly string[] => [
  'listeners.tcp = none',
  `listeners.ssl.default = ${ports.amqp}`,
  ...['ssl_options', 'management.ssl'].flatMap(at => [
    `${at}.certfile = ${OWN_CERTIFICATE}`,
    `${at}.keyfile = ${OWN_KEY}`,
    `${at}.versions.1 = tlsv1.3`,
    `${at}.versions.2 = tlsv1.2`,
  ]),
  // Clients are authenticated by password.
  'ssl_options.verify = verify_none',
  'ssl_options.fail_if_no_peer_cert = false',
  `management.ssl.port = ${ports.management}`,
];
const plain = (ports: ReturnType<typeof portsOf>): readonly string[] => [
  `listeners.tcp.default = ${ports.amqp}`,
  `management.tcp.port = ${ports.management}`,
];

export function rabbitFiles(
  login: Login,
  /** Where it comes from. */
  secret: string,
  custom: string | undefined,
  spec: unknown,
): ConfigFile[] {
  const file = (key: string, path: string, text: string): ConfigFile => ({ key, path: `/etc/rabbitmq/${path}`, text });
  const settings = [
    `default_user = ${rabbitValue(login.user, `key user of Secret ${secret}`)}`,
    `default_pass = ${rabbitValue(login.password, `key password of Secret ${secret}`)}`,
    'default_user_tags.administrator = true',
    // Only the pod itself and what has the password reaches it; loopback-only users would lock us out.
    'loopback_users = none',
    ...(overTls(spec) ? encrypted : plain)(portsOf(spec)),
    'cluster_partition_handling = pause_minority',
    'disk_free_limit.absolute = 200MB',
    'log.console = true',
    'log.file = false',
  ];
  return [
    file('01-rabbitmq.conf', 'conf.d/01-rabbitmq.conf', `${settings.join('\n')}\n`),
    ...(custom ? [file('02-rabbitmq-override.conf', 'conf.d/02-rabbitmq-override.conf', custom)] : []),
    file('enabled_plugins', 'operator/enabled_plugins', '[rabbitmq_management,rabbitmq_prometheus].\n'),
  ];
}
