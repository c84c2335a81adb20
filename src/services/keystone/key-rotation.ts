import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import type { KeystoneObject } from '../backends/keystone.ts';
import { iso } from '../schedule.ts';
import { firstKeys, type Keys, nextRotation, rotate } from './keys.ts';
import type { KeySecrets } from './repository.ts';

const ROTATED_AT = 'openstack.k8s.io/rotated-at';

/** KeysReady: token and credential keys, read live by the pods, so that a rotation restarts nothing. */
export const keysRow = (needs: { readonly input: Row<KeystoneObject, unknown> }): Row<KeystoneObject, KeySecrets> =>
  rowsOf<KeystoneObject>()('KeysReady', {
    // Not for its value: a schedule that can't be read must be told once, where the field is named.
    needs,
    manages: [Secret],
    run: async cx => {
      const fernet = `${cx.name}-fernet-keys`;
      const credential = `${cx.name}-credential-keys`;
      const [current] = await cx.all([
        cx.generate(fernet, () => firstKeys(cx.random), { retain: true }),
        cx.generate(credential, () => firstKeys(cx.random), { retain: true }),
      ]);
      await rotateKeys(cx, fernet, current);
      return { fernet, credential };
    },
    undo: async cx => {
      if (cx.spec.deletionPolicy !== 'Delete') return;
      await cx.all([cx.remove(Secret, `${cx.name}-fernet-keys`), cx.remove(Secret, `${cx.name}-credential-keys`)]);
    },
  });

/** Replaces them when their time has come, and tells when that is. */
async function rotateKeys(cx: Cx<KeystoneObject>, fernet: string, current: Keys): Promise<void> {
  const secret = cx.get(Secret, fernet);
  // Kept on the Secret, not in status: the keys outlive this object, and so must their age.
  const stamp = secret?.metadata.annotations?.[ROTATED_AT] ?? secret?.metadata.creationTimestamp;
  const last = stamp === undefined ? cx.serverTime() : Date.parse(stamp);
  const { schedule, maxActiveKeys } = cx.spec.fernetRotation;
  let [rotatedAt, count] = [last, Object.keys(current).length];
  const due = nextRotation(schedule, last);
  if (due !== undefined && cx.serverTime() >= due) {
    rotatedAt = cx.serverTime();
    const rotated = rotate(current, maxActiveKeys, cx.random);
    await writeKeys(cx, fernet, rotated, rotatedAt);
    count = Object.keys(rotated).length;
  }
  const next = nextRotation(schedule, rotatedAt);
  if (next !== undefined) cx.again(Math.max(1000, next - cx.serverTime()));
  cx.report({
    fernet: { lastRotation: iso(rotatedAt), ...(next !== undefined && { nextRotation: iso(next) }), keys: count },
  });
}

async function writeKeys(cx: Cx<KeystoneObject>, name: string, keys: Keys, rotatedAt: number): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  await cx.apply(
    Secret,
    { metadata: { name, annotations: { [ROTATED_AT]: iso(rotatedAt) } }, type: 'Opaque', data },
    { retain: true },
  );
}
