/** Put here by the build (.build.mjs). */
declare const VOLLEY_VERSION: string | undefined;
declare const VOLLEY_REVISION: string | undefined;

/** Which build wrote something, and which formats it writes and reads: another is refused by name. */
export const PROGRAM = {
  version: typeof VOLLEY_VERSION === 'undefined' ? 'unknown' : VOLLEY_VERSION,
  /** Commit of its sources, with `+changes` where they were changed; `unknown` if they were built outside of a repository. */
  revision: typeof VOLLEY_REVISION === 'undefined' ? 'unknown' : VOLLEY_REVISION,
  /** Each is specified in the module that writes it: plan-file.ts, planned-files.ts, entry-format.ts, memory-file.ts. */
  formats: { plan: 1, journal: 1, memory: 1 },
} as const;
