import { describe, expect, it } from 'vitest';
import { termed, within } from './during.ts';
import type { Cloud, Sql, Term } from './ports.ts';
import { remembering } from './remember.ts';

const AT = { host: 'mariadb', port: 3306, user: 'root', password: 'p', ca: undefined };

function world(more: (log: string[]) => Partial<Cloud> = () => ({})) {
  const sent: string[] = [];
  const sql = {
    check: async () => void sent.push('check'),
    dropUser: async (user: string) => sent.push(`drop ${user}`) > 0,
  } as Partial<Sql> as Sql;
  const cloud = { sql: () => sql, page: async () => void sent.push('page'), ...more(sent) } as Partial<Cloud> as Cloud;
  const stop = new AbortController();
  let leads = true;
  const fence = () => {
    if (!leads) throw new Error('Refused to write: leadership was lost');
  };
  const term: Term = { signal: stop.signal, fence };
  return {
    sent,
    cloud,
    term,
    stop: () => stop.abort(new Error('SIGTERM')),
    lose: () => {
      leads = false;
    },
  };
}

describe('a cloud for one pass', () => {
  it('sends nothing after the pass was stopped', async () => {
    const { sent, cloud, term, stop } = world();
    const mine = termed(cloud).during!(term);
    const sql = mine.sql(AT);
    await sql.check();
    stop();
    await expect(sql.dropUser('nova', undefined)).rejects.toThrow('SIGTERM');
    await expect(mine.page({ url: 'http://x', ca: undefined })).rejects.toThrow('SIGTERM');
    expect(sent).toEqual(['check']);
  });

  it('sends nothing after the lease was lost, whatever the timers say', async () => {
    const { sent, cloud, term, lose } = world();
    const sql = termed(cloud).during!(term).sql(AT);
    await sql.check();
    lose();
    await expect(sql.dropUser('nova', undefined)).rejects.toThrow('leadership was lost');
    expect(sent).toEqual(['check']);
  });

  it('tells a world that asks before each of its exchanges, through whatever remembers', async () => {
    const terms: Term[] = [];
    const { cloud, term } = world(() => ({
      during: given => {
        terms.push(given);
        return cloud;
      },
    }));
    termed(remembering(cloud, { now: () => 0, wall: () => 0, timer: () => () => undefined })).during!(term);
    expect(terms).toEqual([term]);
  });

  it('work under way is cut, and its late failure is nobody’s', async () => {
    const { term, stop } = world();
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<never>((_, reject) => {
      fail = reject;
    });
    let cuts = 0;
    const running = within(term.signal, work, () => cuts++);
    stop();
    await expect(running).rejects.toThrow('SIGTERM');
    fail(new Error('late'));
    expect(cuts).toBe(1);
  });
});
