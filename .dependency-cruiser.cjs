// The layers of the house: cli → commands → run → plan, journal, report → domain. Never upward, no cycles.
const LIBRARIES_WITH_EFFECTS =
  '^(fs|net|http|https|tls|dns|child_process|worker_threads|os|readline|undici|pino|fastify|bottleneck|cli-progress)(/|$)';
const PURE =
  '^src/(normalize|template|steps)/|^src/plan/(columns|dedupe|guards|tally)|^src/journal/(format|replay)|^src/service/retry|^src/report/rows|^src/domain';

const layer = (name, from, mayNotReach) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: mayNotReach },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
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
      from: { path: PURE },
      to: {
        path: `${LIBRARIES_WITH_EFFECTS}|^src/(clock|files|log|commands|sandbox|throttle|run|read)|^src/service/transport`,
      },
    },
    layer('domain-imports-nothing', '^src/(domain|errors|clock)\\.ts$', '^src/(?!domain)'),
    layer('only-verbs-and-library-reach-commands', '^src/(?!cli\\.ts$|verbs/|commands/|library/)', '^src/commands/'),
    layer('only-cli-reaches-verbs', '^src/(?!cli\\.ts$|verbs/)', '^src/verbs/'),
    layer('only-commands-reach-run', '^src/(?!cli\\.ts$|commands/|library/|run/)', '^src/run/'),
    layer('only-the-entry-reaches-library', '^src/(?!library\\.ts$|library/)', '^src/library(\\.ts$|/)'),
    layer(
      'journal-is-below-plan-and-report',
      '^src/journal/',
      '^src/(plan|report|run|steps|service|throttle|read|job)/',
    ),
    layer('report-is-below-run', '^src/report/', '^src/(run|service|throttle|read)/'),
    layer('plan-does-not-reach-sideways', '^src/plan/', '^src/(journal|report|service|throttle|run)/'),
    layer(
      'read-is-an-adapter',
      '^src/read/',
      '^src/(plan|journal|report|service|throttle|run|steps|normalize|template)/',
    ),
    {
      name: 'read-ahead-drafts-and-no-more',
      comment:
        'The thread that reads a file makes the drafts of its rows too, for which it reaches steps, which are pure.',
      severity: 'error',
      from: { path: '^src/read-ahead/' },
      to: { path: '^src/(plan|journal|report|service|throttle|run)/' },
    },
    layer('only-commands-reach-read-ahead', '^src/(?!commands/|read-ahead/)', '^src/read-ahead/'),
    layer(
      'service-is-an-adapter',
      '^src/service/',
      '^src/(plan|journal|report|read|run|steps|throttle|normalize|template)/',
    ),
    layer(
      'throttle-is-an-adapter',
      '^src/throttle/',
      '^src/(plan|journal|report|read|run|steps|service|normalize|template)/',
    ),
    layer(
      'listen-is-an-adapter',
      '^src/listen/',
      '^src/(?!listen/|domain|errors|clock|files|group-commit|log|formula|text-buffer)',
    ),
    layer('only-commands-reach-listen', '^src/(?!commands/|listen/)', '^src/listen/'),
    layer('only-commands-reach-sandbox', '^src/(?!commands/|sandbox/)', '^src/sandbox/'),
    {
      name: 'sandbox-stands-alone',
      comment: 'It is written from the contract, so that it can prove the rest wrong.',
      severity: 'error',
      from: { path: '^src/sandbox/' },
      to: { path: '^src/(?!sandbox/|clock|errors|files)' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
