import { title } from '../schema/forms.ts';
import { cel, immutable, immutableField, text, type ValidationRule } from '../schema/helpers.ts';
import { lifecycle, publicEndpoint, tls } from './common.ts';
import { database, databaseRules, identity, memcached } from './links.ts';
import { pods, replicas } from './pod.ts';

export const region = () => ({
  region: immutable(
    title('Region of the catalog that the endpoints go to.', 255),
    'every endpoint of the catalog carries it',
  ).default('RegionOne'),
});

export const databaseName = () => ({
  databaseName: cel(
    text('Name of the database. Fixed after creation; absent means derived from the name of this object.')
      .min(1)
      .max(64)
      .regex(/^[A-Za-z0-9_.-]+$/),
    "!(self.lowerAscii() in ['mysql', 'sys', 'information_schema', 'performance_schema'])",
    'belongs to the database server itself: choose another name',
  ).optional(),
});

export const databaseNameRule = (): ValidationRule =>
  immutableField('databaseName', 'data does not move between databases');

/** What every OpenStack API with a database and a catalog entry has. */
export const apiService = () => ({
  ...replicas(),
  ...region(),
  ...database(),
  ...databaseName(),
  ...identity(),
  ...memcached(),
  ...publicEndpoint(),
  ...tls(),
  ...pods(),
  ...lifecycle(),
});

export const apiServiceRules = (): readonly ValidationRule[] => [databaseNameRule(), ...databaseRules()];
