import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type LiveCloud, startLiveCloud } from '../../src/cli/commands/live-cloud.ts';
import { servePage } from '../../src/cli/commands/ui.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { PageServer } from '../../src/server/page/serve.ts';
import { silent } from '../../src/world/log.ts';
import { launch } from './chromium.ts';

export const NS = 'openstack';

/** A cloud of its own, its page, and a browser that looks at it. */
export class Stage {
  readonly cloud: LiveCloud;
  readonly browser: Browser;
  server: PageServer;
  /** What the browser complained of, and what it asked elsewhere. */
  readonly complaints: string[] = [];
  /** Every text that came to the browser. */
  readonly heard: string[] = [];

  private constructor(cloud: LiveCloud, browser: Browser, server: PageServer) {
    this.cloud = cloud;
    this.browser = browser;
    this.server = server;
  }

  static async open(speed: number): Promise<Stage> {
    const [browser, cloud] = await Promise.all([
      launch(),
      startLiveCloud({ namespace: NS, port: 0, speed, log: silent }),
    ]);
    return new Stage(cloud, browser, await servePage(cloud.source, 0, 150));
  }

  async page(options: BrowserContextOptions & { readonly sse?: boolean; readonly hash?: string } = {}): Promise<Page> {
    const { sse = true, hash = '', ...rest } = options;
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...rest });
    if (!sse) await context.addInitScript('delete window.EventSource');
    const page = await context.newPage();
    // A cloud may take its time to come up on a busy machine.
    page.setDefaultTimeout(100_000);
    page.on('console', message => {
      if (message.type() !== 'error') return;
      // A connection that was cut on purpose is no complaint about the page, and neither is a plan that was refused.
      const cut = /ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(message.text());
      const refused = /status of 400/.test(message.text()) && message.location().url.endsWith('/api/plan');
      if (!cut && !refused) this.complaints.push(message.text());
    });
    page.on('pageerror', error => this.complaints.push(error.message));
    page.on('request', request => {
      if (!request.url().startsWith(this.server.url)) this.complaints.push(`asked elsewhere: ${request.url()}`);
    });
    page.on('response', async response => {
      if (!/\/api\/stream/.test(response.url())) this.heard.push(await response.text().catch(() => ''));
    });
    await page.goto(`${this.server.url}${hash}`);
    return page;
  }

  /** The server goes away and comes back at the same address. */
  async restart(meanwhile: () => Promise<void>): Promise<void> {
    const port = Number(new URL(this.server.url).port);
    await this.server.stop();
    await meanwhile();
    this.server = await servePage(this.cloud.source, port, 150);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    await this.cloud.stop();
  }
}

/** Values that nobody may see: all of Secrets but names, addresses and whole files. */
export function secretsIn(objects: readonly AnyObject[]): readonly string[] {
  const open =
    /\.(conf|cnf|ini|json|yaml|sql|sh|crt|pem)$|plugins$|^(hostname|user|username|database|vhost|url|project|region|port|incarnation)$/;
  return objects
    .filter(object => object.kind === 'Secret')
    .flatMap(object => Object.entries((object.data ?? {}) as Record<string, string>))
    .filter(([key]) => !open.test(key))
    .map(([, value]) => Buffer.from(value, 'base64').toString())
    .filter(value => value.length >= 8);
}
