import { refused, rejected, unreachable } from '../../cloud/faults.ts';
import { type Claim, isHomeOf, isWithin, markOf, readMark } from '../../cloud/ownership.ts';
import type { Bus, BusAddress } from '../../cloud/ports.ts';
import { settle } from '../../cloud/settle.ts';
import { misfit, type Opening, openingOf } from './handshake.ts';
import type { BusServer, Net } from './state.ts';

class FakeBus implements Bus {
  readonly #net: Net;
  readonly #at: BusAddress;
  readonly #host: string;
  readonly #opening: Opening & { readonly port: number };
  readonly #where: string;

  constructor(net: Net, at: BusAddress) {
    this.#net = net;
    this.#at = at;
    const { host } = new URL(at.url);
    this.#host = host;
    this.#opening = openingOf(at.url, at.ca);
    this.#where = `RabbitMQ ${this.#host}`;
  }

  async check() {
    this.#admin();
  }

  async ensureVhost(name: string, claim: Claim) {
    const server = this.#admin();
    const text = server.descriptions?.[name] ?? '';
    const found = { what: 'Virtual host', name, where: this.#where, text };
    const have = server.vhosts.includes(name);
    if (have && !(await settle(found, claim, () => opens(server, name, claim)))) return false;
    return this.#change(true, () => {
      if (!have) server.vhosts.push(name);
      server.descriptions = { ...server.descriptions, [name]: markOf(claim.owner) };
    });
  }

  async ensureUser(user: string, password: string, vhost: string, claim: Claim) {
    const { users, vhosts } = this.#admin();
    if (!vhosts.includes(vhost)) throw rejected('RabbitMQ', this.#host, `vhost ${vhost} does not exist`);
    const have = users[user];
    const mark = markOf(claim.owner);
    const proven = () => claim.proof?.user === user && claim.proof.password === have?.password;
    if (have) await settle({ what: 'User', name: user, where: this.#where, text: have.mark ?? '' }, claim, proven);
    const right = have?.password === password && have.mark === mark;
    const same = right && !have?.administrator && have?.vhosts.join() === vhost;
    return this.#change(!same, () => {
      users[user] = { password, administrator: false, vhosts: [vhost], mark };
    });
  }

  async dropUser(user: string, claim: Claim) {
    const server = this.#admin();
    return this.#change(isUser(server, user, claim), () => delete server.users[user]);
  }

  async dropVhost(name: string, claim: Claim) {
    const server = this.#admin();
    return this.#change(isVhost(server, name, claim), () => {
      server.vhosts = server.vhosts.filter(v => v !== name);
      const { [name]: _gone, ...descriptions } = server.descriptions ?? {};
      server.descriptions = descriptions;
      for (const user of Object.values(server.users)) user.vhosts = user.vhosts.filter(v => v !== name);
    });
  }

  async owned(claim: Claim) {
    const server = this.#admin();
    return {
      vhosts: server.vhosts.filter(name => isVhost(server, name, claim)),
      users: Object.keys(server.users).filter(name => isUser(server, name, claim)),
    };
  }

  #admin(): BusServer {
    const process = this.#net.find('bus', this.#opening.host, this.#opening.port);
    if (!this.#opening.tls) this.#net.plainTo(process, `bus ${this.#opening.host}`);
    const server = process && this.#net.disks.bus[process.volume];
    if (process === undefined || server === undefined) throw unreachable('RabbitMQ', this.#host, 'connection refused');
    const why = misfit(process, this.#opening);
    if (why) throw unreachable('RabbitMQ', this.#host, why);
    const me = server.users[this.#at.user];
    if (me?.password !== this.#at.password) throw refused('RabbitMQ', this.#host, this.#at.user);
    if (!me.administrator) throw rejected('RabbitMQ', this.#host, `user ${this.#at.user} is no administrator`);
    return server;
  }

  #change(differs: boolean, apply: () => void): boolean {
    if (!differs) return false;
    this.#net.mutated();
    apply();
    return true;
  }
}

export const fakeBus = (net: Net, at: BusAddress): Bus => new FakeBus(net, at);

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
