/** The layers of ARCHITECTURE.md. Each rule says which arrow is forbidden and why. */
const io = [
  '^undici$',
  '^mysql2',
  '^(node:)?(http|https|http2|net|tls|dns|dgram|timers|fs|child_process)$',
  '^(node:)?(fs|timers|dns)/promises$',
  'node_modules/(undici|mysql2)/',
];
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'io-only-in-real',
      comment: 'Time, chance and the network enter through World; src/real implements it.',
      severity: 'error',
      from: {
        path: '^src/(kube|runtime|oslo|cloud|services|controlplane|dataplane|insight|world|operator)/',
        pathNot: '\\.test\\.ts$',
      },
      to: { path: io },
    },
    {
      name: 'kube-knows-no-openstack',
      severity: 'error',
      from: { path: '^src/kube/' },
      to: { path: '^(api|src)/', pathNot: '^src/(kube|world)/' },
    },
    {
      name: 'runtime-knows-no-openstack',
      severity: 'error',
      from: { path: '^src/runtime/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^(api|src)/',
        pathNot: '^src/(kube|runtime|world)/|^src/cloud/(ports|ownership|settle)\\.ts$|^api/schema/kind\\.ts$',
      },
    },
    {
      name: 'oslo-and-insight-are-pure',
      severity: 'error',
      from: { path: '^src/(oslo|insight)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/(real|embedded|server|cli)/' },
    },
    {
      name: 'embedded-is-not-imported-by-the-product',
      severity: 'error',
      from: { path: '^(api|src)/', pathNot: '^src/(cli|server|embedded)/|\\.test\\.ts$' },
      to: { path: '^src/embedded/' },
    },
    {
      name: 'embedded-imports-only-what-it-simulates',
      comment: 'The interfaces and the languages that it answers in, never the product that runs on it.',
      severity: 'error',
      from: { path: '^src/embedded/', pathNot: '\\.test\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(embedded|kube|world|cloud|oslo)/' },
    },
    {
      name: 'dataplane-knows-no-service',
      severity: 'error',
      from: { path: '^src/dataplane/' },
      to: { path: '^src/services/' },
    },
    {
      name: 'the-page-only-draws',
      comment: 'Answers come from src/insight over the wire: the page shares their types, and how ages are written.',
      severity: 'error',
      from: { path: '^ui/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(api|src)/', pathNot: '^src/insight/age\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'tests-are-leaves',
      severity: 'error',
      from: { path: '^(api|src|lab)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
