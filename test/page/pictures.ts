import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { parse, stringify } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Node } from '../../src/kube/resource.ts';
import { decode, encode } from './png.ts';
import { NS, Stage } from './stage.ts';

/** The pictures of docs/: a whole cloud comes up, is looked at, is broken. Run by `make pictures`. */
const FOLDER = process.env.PICTURES ?? 'docs/images';
/** They are in every clone for ever. */
const LARGEST_KIB = 200;
mkdirSync(FOLDER, { recursive: true });

const stage = await Stage.open(6);
for (const node of stage.cloud.admin.list(Node).slice(0, 1))
  stage.cloud.admin.patch(Node, '', node.metadata.name, {
    metadata: { labels: { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' } },
  });

async function picture(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  const path = `${FOLDER}/${name}.png`;
  await page.mouse.move(0, 0);
  // What moves is taken where it began: the same picture each time.
  const bytes = encode(decode(await page.screenshot({ animations: 'disabled', fullPage })));
  const size = bytes.length / 1024;
  console.log(`${path} ${size.toFixed(0)} KiB`);
  if (size > LARGEST_KIB) throw new Error(`${path} is larger than ${LARGEST_KIB} KiB`);
  writeFileSync(path, bytes);
}

const cloud = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject;
const edit = (spec: object): void => void stage.cloud.admin.patch(OpenStackControlPlane, NS, 'minimal', { spec });
const ready = (page: Page) => page.getByText('Everything is ready.').waitFor({ timeout: 300_000 });
const WIDE = { width: 1280, height: 760 };

const page = await stage.page({ viewport: WIDE });
stage.cloud.apply(cloud);
await page.locator('.box.ready[data-id="Keystone/keystone"]').waitFor({ timeout: 300_000 });
await page.locator('.box.moving[data-id="Neutron/neutron"]').waitFor();
await page.setViewportSize({ width: 1280, height: 976 });
await picture(page, 'page-topology');
await page.setViewportSize(WIDE);
await ready(page);

const night = await stage.page({ viewport: { width: 1280, height: 600 }, colorScheme: 'dark', hash: '#view=rollout' });
await night.locator('[data-act="unfold"][data-id="Keystone/keystone"]').click();
await night.locator('.step').first().waitFor();
await picture(night, 'page-rollout');

edit({ keystone: { customServiceConfig: '[token]\nexpiration = 1800\n' } });
await page.locator('.box.moving[data-id="Keystone/keystone"]').waitFor();
await ready(page);
await page.locator('.box[data-id="Keystone/keystone"]').click();
await page.keyboard.press('c');
await page.locator('.search').fill('token');
await page.locator('.config li', { hasText: '1800' }).waitFor();
await picture(page, 'page-config');
await page.keyboard.press('Escape');
await page.keyboard.press('Escape');

await night.keyboard.press('3');
await night.locator('#edit').fill(
  stringify({
    ...cloud,
    spec: { ...(cloud.spec as object), keystone: { customServiceConfig: '[token]\nexpiration = 900\n' } },
  }),
);
await night.keyboard.press('Control+Enter');
await night.locator('.summary').waitFor({ timeout: 300_000 });
await picture(night, 'page-plan', { fullPage: true });

edit({ keystone: { customServiceConfig: '[token\nexpiration = 900\n' }, memcached: { nodeSelector: { disk: 'ssd' } } });
await page.setViewportSize({ width: 1280, height: 864 });
await page.locator('main .cause').nth(1).waitFor();
await page.locator('.box[data-id="Keystone/keystone"]').click();
await page.keyboard.press('w');
await page.locator('.drawer .cause').first().waitFor();
await picture(page, 'page-why');

const narrow = await stage.page({ viewport: { width: 400, height: 800 }, colorScheme: 'dark' });
await narrow.locator('.causes .cause').first().waitFor();
await picture(narrow, 'page-narrow');
await stage.close();
process.exit(0);
