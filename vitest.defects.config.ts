import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { DEFECTS } from './test/defects/list.ts';

const chosen = DEFECTS.find(defect => defect.name === process.env.DEFECT);

/** Plants the defect while the file is loaded: no file on disk changes. */
export default defineConfig({
  plugins: [
    {
      name: 'defect',
      enforce: 'pre',
      load(id) {
        if (!chosen || id.split('?')[0] !== resolve(chosen.file)) return null;
        const text = readFileSync(chosen.file, 'utf8');
        const parts = text.split(chosen.find);
        if (parts.length !== 2) throw new Error(`${chosen.name}: ${chosen.file} has ${parts.length - 1} such places`);
        return parts.join(chosen.replace);
      },
    },
  ],
  test: {
    include: ['{api,src,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.real.test.ts'],
    testTimeout: 120_000,
  },
});
