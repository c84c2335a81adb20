import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleOptions } from './bundle.mjs';
import { noticeOf } from './notice.mjs';
import { packagesOf } from './packages.mjs';
import { sbomOf } from './sbom.mjs';

const own = JSON.parse(readFileSync('package.json', 'utf8'));

describe('what is in the bundle', () => {
  let packages;
  beforeAll(async () => {
    packages = packagesOf((await build({ ...bundleOptions({}), write: false })).metafile);
  }, 60_000);

  it('contains every dependency of package.json and none of the tools', () => {
    const names = packages.map(each => each.name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(own.dependencies)));
    for (const tool of Object.keys(own.devDependencies)) expect(names).not.toContain(tool);
  });

  it('has no package in the page, which NOTICE would not know', async () => {
    const page = await build({ entryPoints: ['ui/main.ts'], bundle: true, write: false, metafile: true, outdir: '/' });
    const inputs = Object.keys(page.metafile.inputs);
    expect(inputs).toContain('ui/main.ts');
    expect(inputs.filter(path => path.includes('node_modules/'))).toEqual([]);
  });

  it('has its licenses in NOTICE', () => {
    expect(readFileSync('NOTICE', 'utf8'), 'run: make build').toBe(noticeOf(packages));
    for (const { name, version, text } of packages) {
      expect(text, `license file of ${name}`).toBeDefined();
      expect(noticeOf(packages)).toContain(`${name} ${version} (`);
    }
  });

  it('is a CycloneDX document with a hash for each package', () => {
    const sbom = sbomOf(own, packages);
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(sbom.components.map(each => each.name)).toEqual(packages.map(each => each.name));
    for (const { name, hashes, purl } of sbom.components) {
      expect(hashes, name).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
      expect(purl).toMatch(/^pkg:npm\/(%40[^/@]+\/)?[^/@]+@\d/);
    }
    expect(sbom.dependencies[0].dependsOn).toHaveLength(packages.length);
  });
});

describe('the audit', { timeout: 60_000 }, () => {
  // npm keeps advisories in its cache: the invented ones stay out of the user's, and out of each other's way.
  const cache = mkdtempSync(join(tmpdir(), 'audit-'));
  let server;
  let answer;
  beforeAll(async () => {
    // npm asks for the versions of a package that an advisory names.
    const versions = { name: 'undici', 'dist-tags': { latest: '7.0.0' }, versions: { '7.0.0': { name: 'undici' } } };
    server = createServer(({ method }, response) => {
      const { code, body } = method === 'POST' ? answer : { code: 200, body: versions };
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.close();
    rmSync(cache, { recursive: true });
  });

  async function audit(code, body) {
    answer = { code, body };
    const child = spawn(process.execPath, ['release/audit.mjs'], {
      env: {
        ...process.env,
        npm_config_registry: `http://127.0.0.1:${server.address().port}/`,
        npm_config_fetch_retries: '0',
        npm_config_cache: mkdtempSync(join(cache, 'npm-')),
      },
    });
    let text = '';
    child.stdout.on('data', chunk => {
      text += chunk;
    });
    const status = await new Promise(resolve => child.on('close', resolve));
    return { status, text };
  }
  const advisory = severity => ({
    undici: [
      { id: 1, url: 'u', title: 'a test', severity, vulnerable_versions: '>=0.0.1', cwe: [], cvss: { score: 0 } },
    ],
  });

  it('passes when nothing is known', async () => {
    expect(await audit(200, {})).toEqual({ status: 0, text: expect.stringContaining('0 known vulnerabilities') });
  });

  it('fails on a severe vulnerability and names the package', async () => {
    expect(await audit(200, advisory('high'))).toEqual({ status: 1, text: expect.stringContaining('high: undici') });
  });

  it('passes on a low one and names it', async () => {
    expect(await audit(200, advisory('low'))).toEqual({ status: 0, text: expect.stringContaining('low: undici') });
  });

  it('says that it was skipped when the registry has no such service', async () => {
    expect(await audit(405, {})).toEqual({ status: 0, text: expect.stringMatching(/^SKIPPED: .* 405 /) });
  });
});
