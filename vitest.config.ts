import { defineConfig } from 'vitest/config';

// The tests of the built command need `dist/`; `npm test` builds it first.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests wait for processes and timers more than they compute: as many workers as CI has cores.
    maxWorkers: 2,
    // Only a hang may end a test: a machine under load takes several times as long.
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
