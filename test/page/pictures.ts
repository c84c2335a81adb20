import { mkdirSync, readFileSync, statSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Node } from '../../src/kube/resource.ts';
import { NS, Stage } from './stage.ts';

/** The pictures of docs/: a whole cloud comes up, is broken, is looked at. Run by `make pictures`. */
const FOLDER = process.env.PICTURES ?? 'docs/images';
mkdirSync(FOLDER, { recursive: true });

const stage = await Stage.open(6);
for (const node of stage.cloud.admin.list(Node).slice(0, 1))
  stage.cloud.admin.patch(Node, '', node.metadata.name, {
    metadata: { labels: { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' } },
  });
const picture = async (page: Page, name: string): Promise<void> => {
  // The pointer is nowhere, and what moves has moved.
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${FOLDER}/${name}.png` });
  console.log(`${FOLDER}/${name}.png ${(statSync(`${FOLDER}/${name}.png`).size / 1024).toFixed(0)} KiB`);
};

const page = await stage.page({ viewport: { width: 1280, height: 760 } });
stage.cloud.apply(parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject);
const moving = page.locator('.box.moving[data-id="Nova/nova"], .box.moving[data-id="Neutron/neutron"]');
await page.locator('.box.ready[data-id="Keystone/keystone"]').waitFor({ timeout: 120_000 });
await moving.first().waitFor();
await picture(page, 'page-topology');
await page.getByText('Everything is ready.').waitFor({ timeout: 240_000 });

const night = await stage.page({ viewport: { width: 1280, height: 620 }, colorScheme: 'dark', hash: '#view=rollout' });
await night.locator('[data-act="unfold"][data-id="Keystone/keystone"]').click();
await night.mouse.move(0, 0);
await picture(night, 'page-rollout');

stage.cloud.admin.patch(OpenStackControlPlane, NS, 'minimal', {
  spec: { keystone: { customServiceConfig: '[token\nexpiration = 1800\n' } },
});
await page.locator('.causes .cause').first().waitFor();
await page.locator('.box[data-id="Keystone/keystone"]').click();
await page.locator('.drawer .cause').first().waitFor();
await page.mouse.move(0, 0);
await picture(page, 'page-why');

const narrow = await stage.page({ viewport: { width: 400, height: 800 } });
await narrow.locator('.causes .cause').first().waitFor();
await picture(narrow, 'page-narrow');
await stage.close();
process.exit(0);
