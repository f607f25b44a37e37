import type { PlantedBug } from './planted-bug.js';

/** Verbs that make a single call, workers, and the library. */
export const SINGLE_CALL_BUGS: readonly PlantedBug[] = [
  {
    name: 'a code is checked again where the answer was lost, and the person has lost a try',
    file: 'src/verbs/verify.ts',
    find: 'await call(readSession, { sessionId: input.sessionId }).catch(',
    replace: 'await call(checkCode, input).catch(',
    tests: ['test/verbs/verify.test.ts'],
  },
  {
    name: 'campaign set exits with 0 though the campaign stays as it was',
    file: 'src/verbs/campaign.ts',
    find: "rejected: { exitCode: EXIT.rejected, word: 'Not done: ' }",
    replace: "rejected: { exitCode: EXIT.ok, word: 'Not done: ' }",
    tests: ['test/verbs/campaign.test.ts'],
  },
  {
    name: 'a worker sends by a job file with other limits than the leader has',
    file: 'src/verbs/work.ts',
    find: 'if (digestJob(job) !== digest) {',
    replace: 'if (digest === undefined) {',
    tests: ['test/cluster/lead-and-work.test.ts'],
  },
  {
    name: 'a batch of the library counts as one message, and the limit of the account is exceeded',
    file: 'src/library/create-service.ts',
    find: 'return { messages: messages.length, segments };',
    replace: 'return { messages: 1, segments };',
    tests: ['test/library/call.test.ts'],
  },
];
