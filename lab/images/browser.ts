import { join } from 'node:path';
import { debianRoot, keyOf, log, once } from './build.ts';
import { inside } from './root.ts';

const script = `
apt-get -q update
apt-get -q install -y chromium fonts-dejavu-core libnss3-tools
rm -rf /var/lib/apt/lists/*`;

/** Folders that, laid over each other, are a root with Chromium; topmost first. */
export async function browserRoots(): Promise<string[]> {
  const debian = join(await debianRoot(), 'root');
  const folder = await once('browser', 'Chromium', keyOf(debian, script, 1), (part, note) =>
    inside({ lower: [debian], upper: join(part, 'root') }, script, log, note).then(() => undefined),
  );
  return [join(folder, 'root'), debian];
}
