import { describe, expect, it } from 'vitest';
import { type CellTemplate, cellSpec, type NovaSpec } from './spec.ts';

const links = {
  api: 'a',
  cell: 'c',
  bus: 'b',
  keystone: 'k',
  mappings: 'm',
  metadata: 's',
  cache: { memcachedServers: [] },
};

describe('the console of a cell', () => {
  const made = (nova: object, own?: CellTemplate['noVNCProxyServiceTemplate']) => {
    const cell = { name: 'cell1', template: own === undefined ? {} : { noVNCProxyServiceTemplate: own } };
    const { tls, noVNCProxyServiceTemplate } = cellSpec({ replicas: 1, ...nova } as NovaSpec, cell, links);
    return { tls, ingress: noVNCProxyServiceTemplate?.ingress };
  };
  const ingress = { hostname: 'nova.example.org', className: 'nginx', annotations: { a: 'b' } };

  it('is published beside the API, as the API is', () => {
    const tls = { enabled: true, publicSecretName: 'wild' };
    expect(made({ ingress, tls })).toEqual({
      tls,
      ingress: { hostname: 'nova-cell1-novncproxy.example.org', className: 'nginx', annotations: { a: 'b' } },
    });
    expect(made({})).toEqual({ tls: undefined, ingress: undefined });
    expect(made({ ingress: { className: 'nginx' } }).ingress).toBeUndefined();
  });

  it('never shares a host, and so no certificate of one', () => {
    const shared = { hostname: 'example.org', path: '/compute' };
    const tls = { enabled: true, issuerRef: { name: 'ours' }, publicSecretName: 'one-host' };
    expect(made({ ingress: shared, tls })).toEqual({
      tls: { enabled: true, issuerRef: { name: 'ours' } },
      ingress: { hostname: 'nova-cell1-novncproxy.example.org' },
    });
    expect(made({ ingress: { ...ingress, path: '/' }, tls }).tls).toEqual(tls);
  });

  it('is where its template says', () => {
    expect(made({ ingress }, { ingress: { hostname: 'console.example.org' } }).ingress).toEqual({
      ...ingress,
      hostname: 'console.example.org',
    });
    expect(made({ ingress }, { expose: { type: 'LoadBalancer' } }).ingress).toBeUndefined();
    expect(made({ ingress }, { publicURL: 'https://console.example.org' }).ingress).toBeUndefined();
  });
});
