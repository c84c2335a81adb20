import { beforeAll, describe, expect, it } from 'vitest';
import { NovaAPI } from '../../api/nova/api.ts';
import { NovaConductor } from '../../api/nova/conductor.ts';
import { NovaMetadata } from '../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../api/nova/novncproxy.ts';
import { NovaScheduler } from '../../api/nova/scheduler.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { type Resource, Secret } from '../../src/kube/resource.ts';
import { ready, type Stage, until, valueIn } from './stage.ts';

export interface SecretsOptions {
  /** The control plane with this section of Nova, and its name. */
  readonly cloud: (nova: object) => object;
  readonly name: string;
  /** Templates of the cells with metadata for all, cell0 and cell1 at least. */
  readonly cells: Readonly<Record<string, object>>;
}

const CUSTOM = '[DEFAULT]\ndebug = true\n';

/** Every Secret that the document of the Nova operator (seed 000) names, and its keys, in both modes of metadata. */
export function secretStories(open: () => Promise<Stage>, { cloud, name, cells }: SecretsOptions): void {
  describe('Secrets of Nova that people and tools rely on', { timeout: 1_800_000 }, () => {
    let stage: Stage;
    const keys = async (secret: string): Promise<string[] | undefined> => {
      const found = await stage.get(Secret, secret);
      return found && Object.keys((found.data ?? {}) as object).sort();
    };
    const text = (secret: string, key: string) => valueIn(stage, secret, key, Secret);
    const option = (conf: string, option: string): string | undefined =>
      new RegExp(`^${option} *= *(.*)$`, 'm').exec(conf)?.[1];
    async function edited(nova: object): Promise<void> {
      await stage.apply(cloud(nova));
      // Its children stay Ready until they have seen the edit.
      const { cellTemplates } = nova as { cellTemplates: object };
      await until(stage, 'the edit arrived', 60, async () => {
        const spec = (await stage.get(Nova, 'nova'))?.spec as { cellTemplates?: object } | undefined;
        return sameButDefaults(cellTemplates, spec?.cellTemplates);
      });
      await ready(stage, Nova, 'nova');
      await ready(stage, OpenStackControlPlane, name);
    }
    const perCell = {
      ...cells,
      cell1: { ...cells.cell1, metadataServiceTemplate: { enabled: true } },
    };

    /** `01-nova.conf` in each, the user's text only where there is some, both below /etc/nova/nova.conf.d. */
    async function holdsConfig(object: string, custom: boolean): Promise<void> {
      const secret = `${object}-config-data`;
      const found = (await keys(secret)) ?? [];
      expect(found, secret).toContain('01-nova.conf');
      expect(found.includes('02-nova-override.conf'), `${secret} 02-nova-override.conf`).toBe(custom);
      if (custom) expect(await text(secret, '02-nova-override.conf')).toContain(CUSTOM);
      const start = found.find(key => key.endsWith('.config.json'));
      const description = JSON.parse(await text(secret, start ?? '')) as { config_files: { dest: string }[] };
      const folder = '/etc/nova/nova.conf.d/';
      const read = description.config_files.map(file => file.dest).filter(path => path.startsWith(folder));
      const wanted = ['01-nova.conf', ...(custom ? ['02-nova-override.conf'] : [])].map(key => folder + key);
      expect(read, secret).toEqual(wanted);
    }

    beforeAll(async () => {
      stage = await open();
      await edited({ cellTemplates: cells, schedulerServiceTemplate: { customServiceConfig: CUSTOM } });
    }, 1_800_000);

    it('config of each service, the user’s text beside it', async () => {
      for (const service of ['api', 'metadata']) await holdsConfig(`nova-${service}`, false);
      await holdsConfig('nova-scheduler', true);
      for (const cell of ['cell0', 'cell1']) await holdsConfig(`nova-${cell}-conductor`, false);
      await holdsConfig('nova-cell1-novncproxy', false);
    });

    it('the script of the database sync beside the config of each conductor', async () => {
      for (const cell of ['cell0', 'cell1']) {
        const script = await text(`nova-${cell}-conductor-config-data`, 'db-sync.sh');
        expect(script).toContain('nova-manage db sync');
        expect(script.includes('api_db sync')).toBe(cell === 'cell0');
      }
    });

    it('config and scripts of the Job that maps each cell', async () => {
      for (const cell of ['cell0', 'cell1']) {
        expect(await keys(`nova-${cell}-manage-config-data`)).toContain('01-nova.conf');
        // The document names the Secret; which scripts there are besides is ours to decide.
        const scripts = expect.arrayContaining(['delete-cell.sh', 'ensure-cell.sh']);
        expect(await keys(`nova-${cell}-manage-scripts`)).toEqual(scripts);
      }
    });

    it('what a service needs to enter database and bus: hostname, user, password', async () => {
      const parts: [Resource, string, string[]][] = [
        [NovaAPI, 'nova-api', ['apiDatabaseSecret', 'cellDatabaseSecret', 'messageBusSecret']],
        [NovaScheduler, 'nova-scheduler', ['apiDatabaseSecret', 'cellDatabaseSecret', 'messageBusSecret']],
        [NovaMetadata, 'nova-metadata', ['apiDatabaseSecret', 'cellDatabaseSecret', 'messageBusSecret']],
        [NovaConductor, 'nova-cell0-conductor', ['apiDatabaseSecret', 'cellDatabaseSecret', 'messageBusSecret']],
        [NovaConductor, 'nova-cell1-conductor', ['cellDatabaseSecret', 'messageBusSecret']],
        [NovaNoVNCProxy, 'nova-cell1-novncproxy', ['cellDatabaseSecret', 'messageBusSecret']],
      ];
      for (const [kind, object, fields] of parts) {
        const spec = (await stage.get(kind, object))?.spec as Record<string, string> | undefined;
        for (const field of fields)
          expect(await keys(spec?.[field] ?? ''), `${object} spec.${field}`).toEqual(
            expect.arrayContaining(['hostname', 'password', 'user']),
          );
      }
    });

    it('config for computes outside, of every cell but cell0', async () => {
      expect(await keys('nova-cell1-compute-config')).toEqual(['01-nova.conf']);
      expect(option(await text('nova-cell1-compute-config', '01-nova.conf'), 'transport_url')).toMatch(/^rabbit:\/\//);
      expect(await keys('nova-cell0-compute-config')).toBeUndefined();
    });

    async function agentConfig(secret: string, service: string): Promise<void> {
      expect(await keys(secret)).toEqual(['05-nova-metadata.conf']);
      const conf = await text(secret, '05-nova-metadata.conf');
      expect(option(conf, 'nova_metadata_host')).toMatch(new RegExp(`^${service}\\.`));
      expect(option(conf, 'nova_metadata_port')).toBe('8775');
      const shared = option(conf, 'metadata_proxy_shared_secret');
      expect(shared).toMatch(/\S{16,}/);
      const serving = await text(`${service}-config-data`, '01-nova.conf');
      // Not toBe: a difference would print both.
      expect(option(serving, 'metadata_proxy_shared_secret') === shared).toBe(true);
    }

    it('config for the metadata agent, one for all cells', async () => {
      await agentConfig('nova-metadata-compute-config', 'nova-metadata');
      expect(await keys('nova-cell1-metadata-compute-config')).toBeUndefined();
      expect(await keys('nova-cell1-metadata-config-data')).toBeUndefined();
    });

    it('config for the metadata agent by cell, once a cell serves its own', async () => {
      await edited({ cellTemplates: perCell });
      await agentConfig('nova-cell1-metadata-compute-config', 'nova-cell1-metadata');
      await holdsConfig('nova-cell1-metadata', false);
      await until(stage, 'the Secrets of global metadata are gone', 120, async () => {
        const left = [await keys('nova-metadata-compute-config'), await keys('nova-metadata-config-data')];
        return left.every(found => found === undefined);
      });
      expect(await keys('nova-cell0-metadata-compute-config')).toBeUndefined();
      for (const cell of ['cell0', 'cell1']) await holdsConfig(`nova-${cell}-conductor`, false);
      expect(await keys('nova-cell1-compute-config')).toEqual(['01-nova.conf']);
      await holdsConfig('nova-scheduler', false);
    });

    it('and back again', async () => {
      await edited({ cellTemplates: cells });
      await agentConfig('nova-metadata-compute-config', 'nova-metadata');
      await until(stage, 'the Secret of the cell is gone', 120, async () => {
        return (await keys('nova-cell1-metadata-compute-config')) === undefined;
      });
    });
  });
}

/** The API server adds values to what was asked for, but no groups of them. */
function sameButDefaults(wanted: unknown, found: unknown): boolean {
  if (!isGroup(wanted) || !isGroup(found)) return wanted === found;
  const names = new Set([...Object.keys(wanted), ...Object.keys(found).filter(name => isGroup(found[name]))]);
  return [...names].every(name => sameButDefaults(wanted[name], found[name]));
}

const isGroup = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
