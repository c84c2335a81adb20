import { readMark } from '../../src/cloud/ownership.ts';
import type { Cloud as Ports } from '../../src/cloud/ports.ts';
import { nativeHash } from '../../src/cloud/statements.ts';
import type { Exit, Programs, Run } from '../../src/embedded/controllers/program.ts';

/**
 * What the Jobs of `render --as jobs` do, in the embedded world: the same files are read, and what they say is done to
 * the fakes. That the programs in them do it to real servers is test/contract/jobs.real.test.ts.
 */
export const effectPrograms =
  (cloud: () => Ports, passwords: () => readonly string[]): Programs =>
  run => {
    const work = perform(run, cloud(), passwords());
    if (work === undefined) return undefined;
    let exit: Exit = { exit: 1, message: 'it did not answer' };
    work.then(
      () => {
        exit = { exit: 0 };
      },
      error => {
        exit = { exit: 1, message: String(error) };
      },
    );
    return { after: 2_000, end: () => exit };
  };

function perform(run: Run, cloud: Ports, passwords: readonly string[]): Promise<void> | undefined {
  const effects = run.file('/effects/effects.json');
  if (effects !== undefined) {
    if (run.argv.at(-1) !== '/effects/ensure.py' || run.file('/effects/ensure.py') === undefined) return undefined;
    const { port, at, steps } = JSON.parse(effects) as {
      port: 'bus' | 'identity';
      at: never;
      steps: { method: string; args: unknown[] }[];
    };
    const methods = cloud[port](at) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    return (async () => {
      for (const { method, args } of steps) await methods[method]!(...args);
    })();
  }
  const [client, setup] = [run.file('/effects/client.cnf'), run.file('/effects/setup.sql')];
  if (client === undefined || setup === undefined) return undefined;
  const value = (key: string) => new RegExp(`^${key}="?(.*?)"?$`, 'm').exec(client)?.[1] ?? '';
  const ca = run.file('/effects/ca.crt');
  const login = { user: value('user'), password: value('password') };
  const at = { host: value('host'), port: Number(value('port')), ...login, ca };
  return (async () => {
    const sql = cloud.sql(at);
    let owner = { id: '', object: '' };
    for (const [, name, comment] of setup.matchAll(/^CREATE DATABASE IF NOT EXISTS `(\w+)`.* COMMENT '([^']+)'/gm)) {
      const mark = readMark(comment)!;
      owner = mark;
      await sql.ensureDatabase(name!, { owner }, mark.users);
    }
    for (const [, user, hash] of setup.matchAll(/^CREATE USER IF NOT EXISTS '([^']+)'@'%'.* USING '([^']+)'/gm)) {
      const grants = [...setup.matchAll(/^GRANT ALL PRIVILEGES ON `([^`]+)`\.\* TO '([^']+)'/gm)];
      const databases = grants.filter(grant => grant[2] === user).map(grant => grant[1]!.replaceAll('\\_', '_'));
      const password = passwords.find(each => nativeHash(each) === hash);
      if (password === undefined) throw new Error(`no Secret holds the password of ${user}`);
      await sql.ensureUser(user!, password, databases, { owner });
    }
  })();
}
