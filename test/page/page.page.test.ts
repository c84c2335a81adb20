import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { execute } from '../../src/cli/program.ts';
import { SLICE } from '../../src/cli/simulation/slice.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { NS, Stage, secretsIn } from './stage.ts';

let stage: Stage;
let page: Page;
beforeAll(async () => {
  stage = await Stage.open(30);
  page = await stage.page();
});
afterAll(() => stage.close());

const configure = (text: string): void =>
  void stage.cloud.admin.patch(OpenStackControlPlane, NS, 'slice', {
    spec: { keystone: { customServiceConfig: text } },
  });
const ready = (at: Page = page) => at.getByText('Everything is ready.').waitFor();
const box = (name: string, at: Page = page) => at.locator(`.box[data-id="${name}"]`);
const ask = async (path: string): Promise<unknown> => (await fetch(new URL(path, stage.server.url))).json();

async function command(line: string): Promise<unknown> {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  const words = [...line.split(' '), '--kubeconfig', stage.cloud.kubeconfig, '-n', NS, '-o', 'json'];
  await execute('kubectl openstack', words, {
    out: write,
    err: write,
    paper: { width: undefined, paint: (_style, said) => said },
    repaints: false,
  });
  return JSON.parse(text);
}

const edit = {
  ...SLICE,
  spec: { ...(SLICE.spec as object), keystone: { customServiceConfig: '[DEFAULT]\ndebug = true\n' } },
};

describe('a cloud', () => {
  it('that is not there yet is said not to be there', () =>
    page.getByText('No cloud in the embedded world.').waitFor());

  it('comes up before one’s eyes', async () => {
    stage.cloud.apply(SLICE);
    await page.locator('.box.moving').first().waitFor();
    await ready();
    expect(await page.locator('.box.ready').count()).toBe(4);
    expect(await page.locator('header .pill').first().textContent()).toContain('ready');
    expect(await page.title()).toBe('ready · openstack/slice');
  });

  it('has the lines of the control plane’s own table', async () => {
    const lines = await page
      .locator('.line')
      .evaluateAll(all =>
        all.map(line => `${line.getAttribute('data-from')} > ${line.getAttribute('data-to')}`).sort(),
      );
    expect(lines).toEqual(['MariaDB/mariadb > Keystone/keystone', 'Memcached/memcached > Keystone/keystone']);
  });

  it('tells how it came up, and on what that hung', async () => {
    await page.keyboard.press('2');
    await page.locator('.timeline').waitFor();
    expect(await page.locator('.critical-path').textContent()).toMatch(/^(mariadb|memcached) → keystone$/);
    await page.locator('[data-act="unfold"][data-id="Keystone/keystone"]').press('Enter');
    await page.locator('.step', { hasText: 'keystone-db-sync' }).first().waitFor();
    await page.keyboard.press('1');
  });
});

describe('something that breaks', () => {
  it('is explained: what, who must act, what to type', async () => {
    configure('[token\nexpiration = 1800\n');
    const cause = page.locator('.causes .cause').first();
    await cause.waitFor();
    expect(await cause.textContent()).toMatch(/line 1/);
    expect(await cause.locator('.command code').first().textContent()).toContain('kubectl');
    await page.locator('.box.stuck').waitFor();
    expect(await box('Keystone/keystone').getAttribute('aria-label')).toContain('stuck');
  });

  it('also in the service itself, with its conditions and events', async () => {
    await box('Keystone/keystone').click();
    const drawer = page.locator('.drawer');
    await drawer.locator('.cause').first().waitFor();
    await drawer.locator('.conditions li[key="ConfigValid"].False').waitFor();
    await page.keyboard.press('p');
    await drawer.locator('.tree li', { hasText: 'keystone-api' }).first().waitFor();
    await page.keyboard.press('e');
    await drawer.locator('.events li').first().waitFor();
  });

  it('is well again as soon as it is mended', async () => {
    configure('[token]\nexpiration = 1800\n');
    await ready();
    await page.keyboard.press('w');
    await page.locator('.drawer').getByText('Nothing is wrong with it.').waitFor();
  });
});

describe('config', () => {
  it('shows every option with its layer, and finds it', async () => {
    await page.keyboard.press('/');
    const search = page.locator('.drawer .search');
    await search.waitFor();
    await search.fill('token expiration');
    const option = page.locator('.config li');
    await expect.poll(() => option.count()).toBe(1);
    expect(await option.first().textContent()).toMatch(/\[token\] expiration = 1800/);
    expect(await option.locator('.layer').first().textContent()).toBe('service');
    await search.fill('connection');
    expect(await page.locator('.config li[key="[database] connection"]').textContent()).toContain('(secret)');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.drawer').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.dataset.id')).toBe('Keystone/keystone');
  });
});

describe('a plan', () => {
  it('is drawn, and is the one of the terminal', async () => {
    writeFileSync('.run/page-edit.json', JSON.stringify(edit));
    await page.keyboard.press('3');
    await page.locator('#edit').fill(JSON.stringify(edit));
    const [answer] = await Promise.all([
      page.waitForResponse(response => response.url().endsWith('/api/plan')),
      page.keyboard.press('Control+Enter'),
    ]);
    await page.getByText('1 workload restarts.').waitFor();
    expect(await page.locator('.waves li').first().textContent()).toContain('Deployment keystone-api');
    await page.locator('.change[key="Secret keystone-config-data"] .after').first().waitFor();
    const { plan } = (await answer.json()) as { plan: Record<string, unknown> };
    const terminal = (await command('plan -f .run/page-edit.json')) as Record<string, unknown>;
    for (const part of ['changes', 'restarts', 'steps', 'effects', 'warnings', 'refused', 'why'])
      expect(plan[part], part).toEqual(terminal[part]);
  });

  it('of something wrong says where', async () => {
    await page.locator('#edit').fill('kind: A\n\tb: c\n');
    await page.locator('[data-act="plan"]').click();
    await page.locator('.plan .trouble', { hasText: /line:2:1/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('1');
  });
});

describe('the same answers', () => {
  it('as the terminal gives', async () => {
    await ready();
    const { clouds, why } = (await ask('/api/overview')) as { clouds: Record<string, unknown>[]; why: object };
    const status = (await command('status')) as { clouds: Record<string, unknown>[] };
    const { topology: _topology, timeline: _timeline, ...rest } = clouds[0]!;
    expect(rest).toEqual(status.clouds[0]);
    expect(await command('why')).toMatchObject(why);
  });
});

describe('the connection', () => {
  it('that is cut comes back, and nothing is missed', async () => {
    await page.locator('.connection.live').waitFor();
    stage.server.drop();
    configure('[token\n');
    await page.locator('.causes .cause').first().waitFor();
    await page.locator('.connection.live').waitFor();
    configure('[token]\nexpiration = 900\n');
    await ready();
  });

  it('to a server that is away for a while is said to be lost, then is back', async () => {
    await stage.restart(async () => {
      await page.locator('.connection.lost').waitFor();
      configure('[token\n');
    });
    await page.locator('.causes .cause').first().waitFor();
    configure('');
    await ready();
    await page.locator('.connection.live').waitFor();
  });

  it('without EventSource is made by asking', async () => {
    const old = await stage.page({ sse: false });
    await old.locator('.connection.polling').waitFor();
    await ready(old);
    configure('[token\n');
    await old.locator('.causes .cause').first().waitFor();
    configure('');
    await ready(old);
    await old.context().close();
  });
});

describe('the looks', () => {
  /** Boxes with a text that does not fit into them. */
  const OVERFULL = `[...document.querySelectorAll('.box')].filter(box => {
    const { left, right } = box.querySelector('.back').getBoundingClientRect();
    return [...box.querySelectorAll('text')].some(text => {
      const at = text.getBoundingClientRect();
      return at.left < left || at.right > right + 0.5;
    });
  }).map(box => box.dataset.id)`;

  it.each([
    [400, 'light'],
    [400, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('fit into %i pixels, %s: every view, the drawer and the plan', async (width, colorScheme) => {
    const look = await stage.page({ viewport: { width, height: 800 }, colorScheme });
    await ready(look);
    const steps: readonly (readonly [act: () => Promise<unknown>, shows: string])[] = [
      [async () => undefined, '.picture .box'],
      [() => box('Keystone/keystone', look).click(), '.drawer .conditions li'],
      [() => look.keyboard.press('c'), '.drawer .config li'],
      [() => look.keyboard.press('p'), '.drawer .tree li'],
      [() => look.keyboard.press('e'), '.drawer .events li'],
      [() => look.keyboard.press('Escape'), '.page:not(:has(.drawer))'],
      [() => look.keyboard.press('2'), '.timeline .row'],
      [() => look.keyboard.press('3'), '#edit'],
      [() => look.keyboard.press('?'), '.help dt'],
    ];
    for (const [act, shows] of steps) {
      await act();
      await look.locator(shows).first().waitFor();
      expect(await look.evaluate('document.documentElement.scrollWidth'), shows).toBeLessThanOrEqual(width);
      expect(await look.evaluate(OVERFULL), shows).toEqual([]);
    }
    await look.context().close();
  });

  it('are dark or light: as the system has it, or as one chooses', async () => {
    const dark = await stage.page({ colorScheme: 'dark' });
    await ready(dark);
    const paper = () => dark.evaluate('getComputedStyle(document.body).backgroundColor') as Promise<string>;
    const night = await paper();
    await dark.keyboard.press('t');
    const day = await paper();
    expect(day).not.toBe(night);
    await dark.reload();
    await ready(dark);
    expect(await paper()).toBe(day);
    await dark.context().close();
  });

  it('can be walked by keyboard', async () => {
    await box('MariaDB/mariadb').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate('document.activeElement.dataset.id')).toBe('Keystone/keystone');
    await page.keyboard.press('Enter');
    await page.locator('.drawer').waitFor();
    await page.goBack();
    await expect.poll(() => page.locator('.drawer').count()).toBe(0);
    await page.keyboard.press('?');
    await page.locator('.help').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.help').count()).toBe(0);
  });
});

describe('secrets', () => {
  it('are in no answer: of all objects, of all questions', async () => {
    const objects = stage.cloud.store.objects() as readonly AnyObject[];
    const values = secretsIn(objects);
    expect(values.length).toBeGreaterThan(5);
    const kinds = new Set(KINDS.map(kind => kind.kind));
    const answers = [...stage.heard, JSON.stringify(await ask('/api/overview'))];
    for (const { kind, metadata } of objects.filter(object => kinds.has(object.kind)))
      for (const question of ['object', 'settings'])
        answers.push(JSON.stringify(await ask(`/api/${question}?kind=${kind}&namespace=${NS}&name=${metadata.name}`)));
    const plan = await fetch(new URL('/api/plan', stage.server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/yaml' },
      body: JSON.stringify(edit),
    });
    expect(plan.status).toBe(200);
    answers.push(await plan.text());
    const all = answers.join('\n');
    expect(all.length).toBeGreaterThan(50_000);
    for (const value of values) expect(all.includes(value), 'a value of a Secret is in an answer').toBe(false);
  });

  it('and the browser had nothing to complain of: no foreign host, nothing that the policy forbids', () =>
    expect(stage.complaints).toEqual([]));
});
