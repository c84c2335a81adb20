import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { needPackages } from '../../lab/tools.ts';

/** Debian's, installed once where we may; or the one that CHROMIUM names. */
export async function launch(): Promise<Browser> {
  const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(program)) await needPackages(['chromium']);
  return chromium.launch({
    executablePath: program,
    // Its sandbox refuses root; what it opens here is our own page. /dev/shm is small in containers.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}
