import * as z from 'zod';
import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { housekeeping, storage } from '../blocks/common.ts';
import { apiService, apiServiceRules } from '../blocks/service.ts';
import { cephName, plainName } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { fixedField, immutableField, list, listMap, objectName, oneOf, rule, withRules } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

const STORES = ['ceph', 'pvc', 'swift'] as const;

export const Glance = kind({
  in: openstack,
  kind: 'Glance',
  plural: 'glances',
  shortNames: ['osgl'],
  description: 'The image service.',
  columns: [
    replicasColumn(),
    { name: 'Store', type: 'string', jsonPath: '.spec.storageType', description: 'Where images go' },
    releaseColumn(),
  ],
  spec: () => ({
    ...apiService(),
    storageType: oneOf(
      STORES,
      'Where images go: ceph (needs a CephStorage), pvc (a volume; several replicas need a ReadWriteMany class), swift.',
    ).default('pvc'),
    ...storage('10Gi'),
    cephStorage: objectName('CephStorage object that holds the images.').default('ceph'),
    stores: listMap(
      withRules(
        z.strictObject({
          name: plainName('Name that users select the store by.'),
          type: oneOf(STORES, 'Kind of store.'),
          cephStorage: objectName('CephStorage object of this store.').optional(),
          pool: cephName('Ceph pool of this store.').optional(),
          secretName: objectName('Secret of a swift store: keys auth_url, user, key.').optional(),
        }),
        [fixedField('cephStorage', '', 'images do not move; add a store')],
      ),
      ['name'],
      'Several stores instead of the one of storageType. The first is the default unless defaultStore names one.',
      16,
    )
      .min(1)
      .optional(),
    defaultStore: plainName('Entry of stores that takes images when the user names none.').optional(),
    importMethods: list(
      oneOf(['glance-direct', 'web-download', 'copy-image', 'glance-download'], 'Import method.'),
      'Import methods that users are allowed.',
      8,
    ).optional(),
    ...housekeeping(),
  }),
  rules: [
    ...apiServiceRules(),
    rule(
      '!has(self.defaultStore) || (has(self.stores) && self.stores.exists(s, s.name == self.defaultStore))',
      'defaultStore must be the name of an entry of stores',
      { fieldPath: '.defaultStore' },
    ),
    rule(
      "!has(self.stores) || self.stores.filter(s, s.type == 'pvc').size() <= 1",
      'stores can have one entry of type pvc, because there is one volume: keep one of them',
      { fieldPath: '.stores' },
    ),
    fixedField('cephStorage', 'ceph', 'images do not move between clusters; add a second store and copy them'),
    immutableField('storageClass', 'images do not move between classes; add a second store and copy them'),
  ],
});
