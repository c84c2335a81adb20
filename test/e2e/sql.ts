import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Secret } from '../../src/kube/resource.ts';
import { addressOf, type LabStage } from './lab.ts';
import { valueIn } from './stage.ts';

/** The rows of a query, asked as root of the MariaDB object of a namespace: over TLS where it has a certificate. */
export async function rowsOf(
  stage: LabStage,
  sql: string,
  name = 'mariadb',
  ca?: string,
): Promise<readonly Record<string, string>[]> {
  const trusted = ca ?? (await valueIn(stage, `${name}-tls`, 'ca.crt', Secret).catch(() => 'plain'));
  const connection = await createConnection({
    ...(trusted !== 'plain' && { ssl: { ca: trusted } }),
    host: await addressOf(`${name}.${stage.namespace}.svc.cluster.local`),
    // A root password that was replaced may belong to the second name of the account.
    user: await valueIn(stage, `${name}-root`, 'user', Secret).catch(() => 'root'),
    password: await valueIn(stage, `${name}-root`, 'password', Secret),
    connectTimeout: 30_000,
  });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows.map(row => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, String(value)])));
  } finally {
    await connection.end();
  }
}
