import { createRequire } from 'node:module';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { FAST_DISK } from './test/fast-disk.js';

/** What the build puts in the place of larger modules: with them the parser of the command line takes a third of a command of a test. */
const [useSmaller] = createRequire(import.meta.url)('./.rolldown.cjs').plugins as [Plugin];

/** Files that wait longer than they compute: for leases, rates, lost answers, closing times, what npm fetches. */
const WAITING = [
  'cluster/service-away',
  'cluster/soak/soak',
  'hostile/regexes',
  'jobs/run-examples',
  'kill/kill',
  'library/package',
];
const SPREAD = 4;

/** Spreads those over the beginning of a run, one before each few others: at its end, or all at once, they would leave the processors idle. */
class SpreadWaiting extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWaiting = ({ moduleId }: TestSpecification) => WAITING.some((name) => moduleId.includes(`/test/${name}.`));
    const waiting = sorted.filter(isWaiting);
    const others = sorted.filter((file) => !isWaiting(file));
    const spread = others.flatMap((file, at) => (at % SPREAD === 0 ? [...waiting.splice(0, 1), file] : [file]));
    return [...spread, ...waiting];
  }
}

// The tests of the built command need `dist/`; `npm test` builds it first.
export default defineConfig({
  plugins: [{ ...useSmaller, enforce: 'pre' }],
  test: {
    // Tests wait for processes and timers as long as they compute: twice as many workers as CI has cores.
    maxWorkers: 4,
    sequence: { sequencer: SpreadWaiting },
    // Only a hang may end a test: a machine under load takes several times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // So that the plugin sees what they import.
    server: { deps: { inline: ['yargs', 'cliui', 'wrap-ansi'] } },
    // Where `tmpdir()` is.
    env: FAST_DISK === undefined ? {} : { TMPDIR: FAST_DISK },
    // What one run has transformed, the next one takes: by its bytes, and by this file.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/e2e/close-opened.ts'],
    include: ['test/**/*.test.ts'],
    // The files that a worker runs share one loading of the sources, which halves their time.
    isolate: false,
  },
});
