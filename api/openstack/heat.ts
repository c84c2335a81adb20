import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { housekeeping } from '../blocks/common.ts';
import { messageBus, messageBusRules } from '../blocks/links.ts';
import { template } from '../blocks/pod.ts';
import { apiService, apiServiceRules } from '../blocks/service.ts';
import { httpUrl, title } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { group, objectName } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const Heat = kind({
  in: openstack,
  kind: 'Heat',
  plural: 'heats',
  shortNames: ['osht'],
  description: 'The orchestration service: stacks of resources from templates.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...apiService(),
    ...messageBus(),
    stackDomain: title('Keystone domain for the users that stacks make.', 64).default('heat'),
    stackDomainAdminSecret: objectName(
      'Secret with the administrator of that domain (keys user, password), who exists already. Needed with keystoneSecret, whose user may not make domains. Absent: made and kept by the operator.',
    ).optional(),
    cfnPublicURL: httpUrl(
      'URL at which servers reach heat-api-cfn, where stacks signal that they are done, without a path. Absent: from ingress, else the internal one.',
    ).optional(),
    encryptionKeySecret: objectName(
      'Secret with the key that parameters are encrypted with, key auth_encryption_key (32 characters). Absent: generated once and kept.',
    ).optional(),
    apiServiceTemplate: group(template(), 'heat-api, where it differs from the rest.').optional(),
    cfnServiceTemplate: group(template(), 'heat-api-cfn, where it differs from the rest.').optional(),
    engineServiceTemplate: group(template(), 'heat-engine, where it differs from the rest.').optional(),
    ...housekeeping(),
  }),
  rules: [...apiServiceRules(), ...messageBusRules()],
});
