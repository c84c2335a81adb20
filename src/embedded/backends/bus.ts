import { refused, rejected, unreachable } from '../../cloud/faults.ts';
import { type Claim, isHomeOf, isWithin, markOf, readMark } from '../../cloud/ownership.ts';
import type { Bus, BusAddress } from '../../cloud/ports.ts';
import { settle } from '../../cloud/settle.ts';
import { misfit, openingOf } from './handshake.ts';
import type { BusServer, Net } from './state.ts';

export function fakeBus(net: Net, at: BusAddress): Bus {
  const { host } = new URL(at.url);
  const opening = openingOf(at.url, at.ca);
  const admin = (): BusServer => {
    const process = net.find('bus', opening.host, opening.port);
    if (!opening.tls) net.plainTo(process, `bus ${opening.host}`);
    const server = process && net.disks.bus[process.volume];
    if (process === undefined || server === undefined) throw unreachable('RabbitMQ', host, 'connection refused');
    const why = misfit(process, opening);
    if (why) throw unreachable('RabbitMQ', host, why);
    const me = server.users[at.user];
    if (me?.password !== at.password) throw refused('RabbitMQ', host, at.user);
    if (!me.administrator) throw rejected('RabbitMQ', host, `user ${at.user} is no administrator`);
    return server;
  };
  const where = `RabbitMQ ${host}`;
  const change = (differs: boolean, apply: () => void): boolean => {
    if (!differs) return false;
    net.mutated();
    apply();
    return true;
  };
  return {
    async check() {
      admin();
    },
    async ensureVhost(name, claim) {
      const server = admin();
      const text = server.descriptions?.[name] ?? '';
      const found = { what: 'Virtual host', name, where, text };
      const have = server.vhosts.includes(name);
      if (have && !(await settle(found, claim, () => opens(server, name, claim)))) return false;
      return change(true, () => {
        if (!have) server.vhosts.push(name);
        server.descriptions = { ...server.descriptions, [name]: markOf(claim.owner) };
      });
    },
    async ensureUser(user, password, vhost, claim) {
      const { users, vhosts } = admin();
      if (!vhosts.includes(vhost)) throw rejected('RabbitMQ', host, `vhost ${vhost} does not exist`);
      const have = users[user];
      const mark = markOf(claim.owner);
      const proven = () => claim.proof?.user === user && claim.proof.password === have?.password;
      if (have) await settle({ what: 'User', name: user, where, text: have.mark ?? '' }, claim, proven);
      const right = have?.password === password && have.mark === mark;
      const same = right && !have?.administrator && have?.vhosts.join() === vhost;
      return change(!same, () => {
        users[user] = { password, administrator: false, vhosts: [vhost], mark };
      });
    },
    async dropUser(user, claim) {
      const server = admin();
      return change(isUser(server, user, claim), () => delete server.users[user]);
    },
    async dropVhost(name, claim) {
      const server = admin();
      return change(isVhost(server, name, claim), () => {
        server.vhosts = server.vhosts.filter(v => v !== name);
        const { [name]: _gone, ...descriptions } = server.descriptions ?? {};
        server.descriptions = descriptions;
        for (const user of Object.values(server.users)) user.vhosts = user.vhosts.filter(v => v !== name);
      });
    },
    async owned(claim) {
      const server = admin();
      return {
        vhosts: server.vhosts.filter(name => isVhost(server, name, claim)),
        users: Object.keys(server.users).filter(name => isUser(server, name, claim)),
      };
    },
  };
}

function isUser({ users }: BusServer, name: string, { owner, proof }: Claim): boolean {
  const mark = readMark(users[name]?.mark);
  return mark ? isWithin(mark, owner) : proof?.user === name && users[name]?.password === proof.password;
}

function isVhost(server: BusServer, name: string, claim: Claim): boolean {
  const mark = readMark(server.descriptions?.[name]);
  if (!server.vhosts.includes(name)) return false;
  return mark ? isWithin(mark, claim.owner) : isHomeOf(name, claim) && opens(server, name, claim);
}

/** Whether the credentials of the claim log in and may use this vhost. */
function opens({ users }: BusServer, vhost: string, { proof }: Claim): boolean {
  const user = proof && users[proof.user];
  return user !== undefined && user.password === proof?.password && user.vhosts.includes(vhost);
}
