import type { SpecOf } from '../../../api/kind.ts';
import type { Glance } from '../../../api/openstack/glance.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import { authToken } from '../sections.ts';
import type { ConfigInput } from '../service.ts';
import { DATA, type Store, storeSections } from './stores.ts';

export const glanceConf = (x: ConfigInput<SpecOf<typeof Glance>, readonly Store[]>): Conf =>
  conf(
    'glance',
    {
      DEFAULT: {
        // oslo wants the brackets here, and only here.
        enabled_import_methods: x.spec.importMethods && `[${x.spec.importMethods.join(',')}]`,
      },
      os_glance_staging_store: { filesystem_store_datadir: `${DATA}/staging` },
      os_glance_tasks_store: { filesystem_store_datadir: `${DATA}/tasks` },
      paste_deploy: { flavor: 'keystone' },
      oslo_middleware: { enable_proxy_headers_parsing: true },
    },
    at('topology', { oslo_concurrency: { lock_path: '/tmp' }, ...storeSections(x.input, x.spec, x.identity) }),
    authToken(x, 'image'),
  );
