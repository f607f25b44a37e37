import { defineConfig } from 'vitest/config';

// The tests of the built command need `dist/`; `npm test` builds it first.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests wait for processes and timers more than they compute: as many workers as CI has cores.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
