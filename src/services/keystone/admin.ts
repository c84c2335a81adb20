import { CloudError, type Identity } from '../../cloud/ports.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { RETRY_ANNOTATION } from '../../runtime/plan/names.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { password } from '../../world/clock.ts';
import { adminAddress, adminSecret, internalUrl, type KeystoneObject, publicUrl } from '../backends/keystone.ts';
import { checkSchedule } from '../schedule.ts';

/** Rows that know the administrator's password. */

const row = rowsOf<KeystoneObject>();

export const input = row('InputReady', {
  manages: [Secret],
  run: async cx => {
    checkSchedule('spec.fernetRotation.schedule', cx.spec.fernetRotation.schedule, '0 0 * * 0');
    const name = adminSecret(cx.object);
    cx.report({ adminSecret: name });
    if (cx.spec.adminPasswordSecret) return cx.secret(name, ['password'], 'spec.adminPasswordSecret');
    return cx.generate(name, () => ({ user: cx.spec.adminUser, password: password(cx.random) }), { retain: true });
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy === 'Delete' && !cx.spec.adminPasswordSecret)
      await cx.remove(Secret, adminSecret(cx.object));
  },
});

/** As administrator. Bootstrap would reset the password, but whoever changed it may have had a reason: it asks first. */
async function asAdmin<T>(cx: Cx<KeystoneObject>, use: (identity: Identity) => Promise<T>): Promise<T> {
  try {
    return await use(cx.cloud.identity(await adminAddress(cx, cx.object)));
  } catch (error) {
    if (!(error instanceof CloudError && error.fault === 'refused')) throw error;
    throw stall({
      ...error.called,
      reason: 'AccessDenied',
      what: error.message,
      who: 'User',
      next: `or annotate Keystone ${cx.name} with ${RETRY_ANNOTATION}=<anything new> to reset it to what the Secret holds`,
      // Passwords inside Keystone change without a watch telling.
      after: 60_000,
    });
  }
}

/** Bootstrap wrote the catalog once; this finds and repairs what was changed by hand since. */
export const endpointsRow = (needs: Readonly<Record<'workloads' | 'expose', Row<KeystoneObject, unknown>>>) =>
  row('EndpointsReady', {
    needs,
    run: cx =>
      asAdmin(cx, async identity => {
        await identity.ensureProject('service');
        const entry = {
          name: 'keystone',
          type: 'identity',
          endpoints: { public: publicUrl(cx, cx.object), internal: internalUrl(cx, cx.object) },
        };
        // Bootstrap wrote it, without a mark. The whole catalog is in the database of this very object.
        await identity.ensureService(entry, { owner: await cx.owner(), adopt: entry.type });
      }),
  });

/** A token for the administrator, which reads the database. */
export const answeringRow = (needs: { readonly workloads: Row<KeystoneObject, unknown> }) =>
  row('Answering', { needs, run: cx => asAdmin(cx, identity => identity.check()) });
