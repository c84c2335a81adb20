import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** By the path under which it is served. */
export type Assets = ReadonlyMap<string, Asset>;

/** Put into the program by build.mjs; there is none when the sources run. */
declare const PAGE_FILES: Readonly<Record<string, string>> | undefined;

/** The files of the page: those in the program, or made from `ui/` where the sources run. */
export async function pageAssets(): Promise<Assets> {
  const files =
    typeof PAGE_FILES === 'undefined' ? await (await import('../../../ui/build.mjs')).pageFiles() : PAGE_FILES;
  return assetsOf(files);
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export function assetsOf(files: Readonly<Record<string, string>>): Assets {
  return new Map(
    Object.entries(files).map(([name, text]) => {
      const bytes = Buffer.from(text);
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 16)}"`;
      const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
      return [name === 'index.html' ? '/' : `/${name}`, { type, bytes, gzip: gzipSync(bytes), etag }];
    }),
  );
}
