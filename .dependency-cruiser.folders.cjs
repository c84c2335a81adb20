/** Between folders, too, arrows go one way: a folder can be understood after those that it imports. Tests do not count. */
module.exports = {
  forbidden: [
    {
      name: 'folders-form-a-dag',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(api|src)' },
      to: { circular: true },
    },
  ],
  options: {
    exclude: { path: '\\.test\\.ts$' },
    includeOnly: { path: '^(api|src)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
