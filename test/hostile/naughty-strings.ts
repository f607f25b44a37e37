import { createRequire } from 'node:module';

/** The Big List of Naughty Strings, each once: strings that others saw programs fail on. */
export const NAUGHTY: readonly string[] = [
  ...new Set(createRequire(import.meta.url)('big-list-of-naughty-strings') as string[]),
];
