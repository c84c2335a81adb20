import { stringify } from 'yaml';
import { Secret } from '../../kube/resource.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { type KeystoneObject, publicUrl } from '../backends/keystone.ts';
import { input } from './admin.ts';

/** For people: `OS_CLIENT_CONFIG_FILE` and off they go. */
export const clientConfig = rowsOf<KeystoneObject>()('ClientConfigReady', {
  needs: { input },
  manages: [Secret],
  run: async (cx, { input }) => {
    const text = stringify(
      {
        clouds: {
          default: {
            auth: {
              auth_url: publicUrl(cx, cx.object),
              username: cx.spec.adminUser,
              password: input.password,
              project_name: cx.spec.adminProject,
              user_domain_name: 'Default',
              project_domain_name: 'Default',
            },
            region_name: cx.spec.region,
            identity_api_version: 3,
          },
        },
      },
      { version: '1.1' },
    );
    const name = cx.name === 'keystone' ? 'openstack-clouds' : `${cx.name}-clouds`;
    await cx.apply(Secret, {
      metadata: { name },
      type: 'Opaque',
      data: { 'clouds.yaml': Buffer.from(text).toString('base64') },
    });
  },
});
