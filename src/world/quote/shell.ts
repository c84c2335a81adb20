import { withoutNul } from './unquotable.ts';

/** One word for sh and bash, whatever is in it. */
export const shell = (text: string): string => `'${withoutNul(text, 'a shell').replaceAll("'", "'\\''")}'`;
