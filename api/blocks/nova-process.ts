import { title } from '../schema/forms.ts';
import { immutableField, objectName, type ValidationRule } from '../schema/helpers.ts';
import { actions, images, podProfile, release, tls, trust } from './common.ts';
import { secretLinks } from './links.ts';
import { pods, replicas } from './pod.ts';

/** What each of Nova's processes has. Databases and buses are added by kind: who may see which is Nova's trust model. */
export const novaProcess = () => ({
  ...replicas(),
  ...secretLinks.keystone(),
  ...secretLinks.memcached(),
  ...trust(),
  ...pods(),
  ...release(),
  ...podProfile(),
  ...images(),
  ...actions(),
});

/** A process that others call. */
export const novaServer = () => ({ ...novaProcess(), ...tls() });

export const cellName = (why: string) => ({
  cellName: objectName(`${why} Fixed after creation: Nova does not move hosts or databases between cells.`).optional(),
});

export const cellNameRule = (): ValidationRule =>
  immutableField('cellName', 'Nova does not move hosts or databases between cells');

export const region = () => ({
  region: title('Region of the catalog.', 255).default('RegionOne'),
});
