const LINE = '-'.repeat(80);

/** The text of NOTICE: what else is in dist/openstack-operator.js, and under which terms. */
export const noticeOf = packages =>
  [
    'openstack-operator',
    'Licensed under the Apache License, Version 2.0 (see LICENSE).',
    '',
    'dist/openstack-operator.js and the container image contain code of the packages below. Written by',
    '`make build`; do not edit.',
    '',
    ...packages.flatMap(({ name, version, license, text }) => [
      LINE,
      `${name} ${version} (${license})`,
      LINE,
      text ?? `The package has no license file; its package.json says ${license}.`,
      '',
    ]),
  ]
    .flatMap(block => block.split('\n'))
    .map(line => line.trimEnd())
    .join('\n');
