import { refused, rejected, unreachable } from '../../cloud/faults.ts';
import type { Bus, BusAddress } from '../../cloud/ports.ts';
import { misfit, openingOf } from './handshake.ts';
import type { BusServer, Net } from './state.ts';

export function fakeBus(net: Net, at: BusAddress): Bus {
  const { host } = new URL(at.url);
  const opening = openingOf(at.url, at.ca);
  const admin = (): BusServer => {
    const process = net.find('bus', opening.host, opening.port);
    const server = process && net.disks.bus[process.volume];
    if (process === undefined || server === undefined) throw unreachable('RabbitMQ', host, 'connection refused');
    const why = misfit(process, opening);
    if (why) throw unreachable('RabbitMQ', host, why);
    const me = server.users[at.user];
    if (me?.password !== at.password) throw refused('RabbitMQ', host, at.user);
    if (!me.administrator) throw rejected('RabbitMQ', host, `user ${at.user} is no administrator`);
    return server;
  };
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
    async ensureVhost(name) {
      const { vhosts } = admin();
      return change(!vhosts.includes(name), () => vhosts.push(name));
    },
    async ensureUser(user, password, vhost) {
      const { users, vhosts } = admin();
      if (!vhosts.includes(vhost)) throw rejected('RabbitMQ', host, `vhost ${vhost} does not exist`);
      const have = users[user];
      const same = have && have.password === password && !have.administrator && have.vhosts.join() === vhost;
      return change(!same, () => {
        users[user] = { password, administrator: false, vhosts: [vhost] };
      });
    },
    async dropUser(user) {
      const { users } = admin();
      return change(users[user] !== undefined, () => delete users[user]);
    },
    async dropVhost(name) {
      const server = admin();
      return change(server.vhosts.includes(name), () => {
        server.vhosts = server.vhosts.filter(v => v !== name);
        for (const user of Object.values(server.users)) user.vhosts = user.vhosts.filter(v => v !== name);
      });
    },
  };
}
