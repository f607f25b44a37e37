// The rooms of the house: what each folder of src/ may import. Each sees only those above it in this table: never upward, no cycles.
const MAY_IMPORT = {
  domain: [],
  hours: ['domain'],
  normalize: ['domain'],
  template: ['domain', 'normalize'],
  ports: ['normalize'],
  prices: ['domain', 'normalize', 'template'],
  storage: ['domain', 'ports'],
  job: ['domain', 'hours', 'normalize', 'template', 'prices', 'storage'],
  guess: ['domain', 'normalize'],
  listen: ['domain', 'normalize', 'ports', 'storage'],
  throttle: ['ports', 'job'],
  service: ['domain', 'ports', 'job'],
  kinds: ['domain', 'normalize', 'template', 'prices', 'job', 'service'],
  filter: ['domain', 'hours', 'normalize', 'template', 'job', 'kinds'],
  input: ['domain', 'normalize', 'storage', 'job', 'guess', 'kinds', 'filter'],
  plan: ['domain', 'hours', 'normalize', 'template', 'prices', 'storage', 'job', 'kinds', 'filter', 'input'],
  preview: ['domain', 'template', 'storage', 'job', 'kinds', 'normalize', 'input', 'plan'],
  journal: ['domain', 'storage'],
  report: ['domain', 'normalize', 'prices', 'storage', 'job', 'kinds', 'plan', 'journal'],
  people: ['domain', 'normalize', 'storage', 'job', 'kinds', 'plan', 'journal', 'report'],
  registry: ['domain', 'normalize', 'ports', 'storage', 'job', 'kinds', 'plan', 'journal', 'report'],
  run: [
    'domain',
    'hours',
    'ports',
    'storage',
    'job',
    'throttle',
    'service',
    'kinds',
    'plan',
    'journal',
    'report',
    'registry',
  ],
  cluster: ['domain', 'ports', 'storage', 'job', 'throttle', 'service', 'kinds', 'plan', 'journal', 'registry', 'run'],
  settle: [
    'domain',
    'normalize',
    'ports',
    'storage',
    'job',
    'kinds',
    'input',
    'plan',
    'journal',
    'report',
    'registry',
    'listen',
  ],
  proof: ['domain', 'normalize', 'storage', 'job', 'kinds', 'plan', 'journal', 'report', 'registry'],
  prune: ['domain', 'storage', 'job', 'plan', 'journal', 'report', 'registry'],
  retry: [
    'domain',
    'normalize',
    'storage',
    'job',
    'kinds',
    'input',
    'filter',
    'plan',
    'journal',
    'report',
    'registry',
    'run',
  ],
  // Written from the contract, so that it can prove the rest wrong: nothing of `service`.
  sandbox: ['domain', 'ports', 'storage'],
};
/** They wire the rest together. */
const DOORS = {
  command: ['library', 'verbs'],
  texts: ['library', 'verbs'],
  observe: ['library', 'verbs'],
  library: ['verbs', 'sandbox', 'listen', 'console'],
  console: ['library', 'verbs', 'sandbox', 'listen', 'observe', 'cluster'],
  verbs: ['library'],
};

const LIBRARIES_WITH_EFFECTS =
  '^(fs|net|http|https|tls|dns|child_process|worker_threads|os|readline|undici|pg|pino|fastify|bottleneck|prom-client)(/|$)';
/** Rooms, and files by how their names begin. */
const PURE = [
  ...['domain/', 'hours/', 'normalize/', 'template/', 'prices/', 'kinds/', 'filter/', 'guess/'],
  ...[
    'plan/bind-columns',
    'plan/guards',
    'plan/tally',
    'journal/entry-format',
    'journal/replay',
    'journal/row-status-view',
  ],
  ...['service/decide-answer', 'report/outputs'],
];

const room = (folder, mayImport) => ({
  name: `${folder}-sees-only-what-is-below`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: `^src/(?!(?:${[folder, ...mayImport].join('|')})/)` },
});
const door = (folder, mayNotImport) => ({
  name: `${folder}-is-a-door`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: `^src/(?:${mayNotImport.join('|')})/` },
});

module.exports = {
  forbidden: [
    ...Object.entries(MAY_IMPORT).map(([folder, mayImport]) => room(folder, mayImport)),
    ...Object.entries(DOORS).map(([folder, mayNotImport]) => door(folder, mayNotImport)),
    {
      name: 'every-folder-is-a-room',
      comment: 'A new folder has a line in the tables above; directly in src/ are the two doors alone.',
      severity: 'error',
      from: {},
      to: {
        path: '^src/',
        pathNot: `^src/(?:(?:${[...Object.keys(MAY_IMPORT), ...Object.keys(DOORS)].join('|')})/|cli\\.ts$|library\\.ts$)`,
      },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      // numfmt names a file for `require` that its package lacks; imports take another.
      name: 'no-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(numfmt|csv-parse/sync)$' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'pure-modules-have-no-effects',
      comment: 'No fs, network, clock, log: what they need arrives as an argument.',
      severity: 'error',
      from: { path: PURE.map((path) => `^src/${path}`) },
      to: { path: `${LIBRARIES_WITH_EFFECTS}|^src/(ports|storage)/|^src/service/transport` },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
