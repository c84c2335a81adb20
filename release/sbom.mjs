/** `sha512-<base64>` of the lock file, as CycloneDX writes it. */
function hashesOf(integrity) {
  if (!integrity?.startsWith('sha512-')) return [];
  return [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }];
}

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** CycloneDX 1.5 of what is in the bundle. Without time and serial number: equal inputs give equal bytes. */
export function sbomOf({ name, version, license, description }, packages) {
  const ref = purlOf(name, version);
  const components = packages.map(each => ({
    type: 'library',
    'bom-ref': purlOf(each.name, each.version),
    name: each.name,
    version: each.version,
    hashes: hashesOf(each.integrity),
    licenses: [{ expression: each.license }],
    purl: purlOf(each.name, each.version),
  }));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': ref,
        name,
        version,
        description,
        licenses: [{ expression: license }],
        purl: ref,
      },
    },
    components,
    dependencies: [{ ref, dependsOn: components.map(each => each['bom-ref']) }],
  };
}
