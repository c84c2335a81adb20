import type { SpecOf } from '../../../api/kind.ts';
import type { Glance } from '../../../api/openstack/glance.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import { authToken } from '../sections.ts';
import type { ConfigInput } from '../service.ts';

/** Images, and beside them what is staged for an import or worked on by a task. */
export const DATA = '/var/lib/glance';

const STORE = 'file';

export const glanceConf = (x: ConfigInput<SpecOf<typeof Glance>>): Conf =>
  conf(
    'glance',
    {
      DEFAULT: {
        enabled_backends: [`${STORE}:file`],
        // oslo wants the brackets here, and only here.
        enabled_import_methods: x.spec.importMethods && `[${x.spec.importMethods.join(',')}]`,
      },
      glance_store: { default_backend: STORE },
      [STORE]: { filesystem_store_datadir: `${DATA}/images` },
      os_glance_staging_store: { filesystem_store_datadir: `${DATA}/staging` },
      os_glance_tasks_store: { filesystem_store_datadir: `${DATA}/tasks` },
      paste_deploy: { flavor: 'keystone' },
      oslo_middleware: { enable_proxy_headers_parsing: true },
    },
    at('topology', { oslo_concurrency: { lock_path: '/tmp' } }),
    authToken(x, 'image'),
  );
