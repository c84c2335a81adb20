import { type Cloud, CloudError } from '../../src/cloud/ports.ts';

/** A token by the administrator's password, through the Service of Keystone. */
export async function loginBy(
  cloud: Cloud,
  namespace: string,
  password: string,
  drive: <T>(call: Promise<T>) => Promise<T> = call => call,
): Promise<boolean> {
  const url = `http://keystone-api.${namespace}.svc.cluster.local:5000`;
  try {
    await drive(
      cloud.identity({ url, user: 'admin', password, project: 'admin', region: 'RegionOne', ca: undefined }).check(),
    );
    return true;
  } catch (error) {
    if (error instanceof CloudError && error.fault === 'refused') return false;
    throw error;
  }
}
