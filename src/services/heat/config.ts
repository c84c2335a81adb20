import type { SpecOf } from '../../../api/kind.ts';
import type { Heat } from '../../../api/openstack/heat.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import { authToken, caFile, cafile, userSection } from '../sections.ts';
import type { ConfigInput } from '../service.ts';

export interface HeatInput {
  /** Opens the parameters and passwords of every stack in the database: never to change. */
  readonly key: string;
  /** Administrator of the stack domain. */
  readonly keeper: { readonly user: string; readonly password: string };
  /** As whom it acts with trusts; undefined: as its own user, which somebody else made. */
  readonly trustee: { readonly user: string; readonly password: string } | undefined;
  /** Where servers signal that they are done. */
  readonly cfn: string;
}

/** The role of the users that stacks make for their servers. */
export const STACK_USER = 'heat_stack_user';

export function heatConf(x: ConfigInput<SpecOf<typeof Heat>, HeatInput>): Conf {
  const { url, region } = x.identity;
  const { user, password } = x.input.trustee ?? x.identity;
  return conf(
    'heat',
    {
      DEFAULT: {
        // By default one per core, whatever the node has.
        num_engine_workers: 2,
        stack_user_domain_name: x.spec.stackDomain,
        heat_stack_user_role: STACK_USER,
        server_keystone_endpoint_type: 'public',
      },
      paste_deploy: { api_paste_config: '/etc/heat/api-paste.ini' },
      oslo_middleware: { enable_proxy_headers_parsing: true },
      clients: { endpoint_type: 'internalURL' },
    },
    at('topology', {
      DEFAULT: {
        heat_metadata_server_url: x.input.cfn,
        heat_waitcondition_server_url: `${x.input.cfn}/v1/waitcondition`,
        region_name_for_services: region,
      },
      // All of its clients ask this section for what their own does not say.
      clients: caFile(x.identity),
      clients_keystone: { auth_uri: url },
      // It has a name of its own for the file, until 2026.1.
      ec2authtoken: { ...userSection(x.identity), ...(x.spec.release < '2026.1' && caFile(x.identity)) },
      // No project: trusts bring their own.
      trustee: {
        auth_type: 'password',
        auth_url: url,
        username: user,
        password,
        user_domain_name: 'Default',
        ...cafile(x.identity),
      },
    }),
    at('security', {
      DEFAULT: {
        auth_encryption_key: x.input.key,
        stack_domain_admin: x.input.keeper.user,
        stack_domain_admin_password: x.input.keeper.password,
      },
    }),
    authToken(x, 'orchestration'),
  );
}
