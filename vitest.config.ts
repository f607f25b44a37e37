import { defineConfig } from 'vitest/config';

// The tests of the built command need `dist/`; `npm test` builds it first.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
