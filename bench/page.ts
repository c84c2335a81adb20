import { pageAssets } from '../src/server/page/assets.ts';
import { type Figure, figure } from './figures.ts';

/** What a browser loads before it can ask: everything zipped, as it is sent. */
export async function pageSize(): Promise<Figure[]> {
  const assets = [...(await pageAssets()).values()];
  const sum = (size: (asset: (typeof assets)[number]) => number): number =>
    assets.reduce((total, asset) => total + size(asset), 0) / 1024;
  return [
    figure(
      'page, gzipped',
      sum(asset => asset.gzip.length),
      'KiB',
      250,
    ),
    figure(
      'page, unzipped',
      sum(asset => asset.bytes.length),
      'KiB',
    ),
  ];
}
