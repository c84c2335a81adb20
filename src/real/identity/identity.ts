import { rejected, stranger } from '../../cloud/faults.ts';
import type { Identity, IdentityAddress } from '../../cloud/ports.ts';
import type { Clock } from '../../world/clock.ts';
import type { Http } from '../http/http.ts';
import { Catalog } from './catalog.ts';
import { Rows } from './rows.ts';
import { Session, said, type Tokens } from './tokens.ts';
import { Users } from './users.ts';

const PROJECT = '%(project_id)s';

export function realIdentity(at: IdentityAddress, http: Http, clock: Clock, tokens: Tokens): Identity {
  const session = new Session(at, http, clock, tokens);
  const rows = new Rows(session);
  const users = new Users(session, rows);
  const catalog = new Catalog(rows, at.region);
  return {
    check: () => session.check(),
    ensureProject: name => users.ensureProject(name),
    ensureUser: (user, password, project, roles, claim) => users.ensureUser(user, password, project, roles, claim),
    dropUser: (user, owner) => users.dropUser(user, owner),
    ensureRole: name => users.ensureRole(name),
    ensureDomain: (name, user, password, claim) => users.ensureDomain(name, user, password, claim),
    dropDomain: (name, owner) => users.dropDomain(name, owner),
    ensureService: (entry, claim) => catalog.ensureService(entry, claim),
    dropService: (type, owner) => catalog.dropService(type, owner),
    get: (serviceUrl, path) => ask(session, 'GET', serviceUrl, path),
    post: (serviceUrl, path, body) => ask(session, 'POST', serviceUrl, path, body),
  };
}

/** Any service of the cloud, with our token. */
async function ask(
  session: Session,
  method: 'GET' | 'POST',
  serviceUrl: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const plain = `${serviceUrl.replace(/\/$/, '')}${path}`;
  const url = plain.includes(PROJECT) ? plain.replaceAll(PROJECT, await session.project()) : plain;
  const answer = await session.send(method, url, body);
  const { host, pathname } = new URL(url);
  if (answer.status < 300 && (typeof answer.body !== 'object' || answer.body === null))
    throw stranger('The service', host, `${method} ${pathname}`);
  if (answer.status < 300) return answer.body;
  throw rejected('The service', host, `${method} ${pathname}: status ${answer.status}${said(answer.body)}`);
}
