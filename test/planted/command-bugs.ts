import type { PlantedBug } from './planted-bug.js';

/** Verbs that plan and send, and what runs them. */
export const COMMAND_BUGS: readonly PlantedBug[] = [
  {
    name: 'a plan that a guard refuses ends as if it were to be sent',
    file: 'src/verbs/plan.ts',
    find: 'exitCode: object.exitCode, reason, failure };',
    replace: 'exitCode: EXIT.ok, reason };',
    tests: ['test/e2e/every-verb.long.test.ts'],
    title: 'plan that a guard stops (4) has the figures of the plan in its one object, too',
  },
  {
    name: 'what was sent before a failure is not reported',
    file: 'src/verbs/run.ts',
    find: 'return { summaries, leftOut: [], guarded, failure };',
    replace: 'return { summaries: [], leftOut: [], guarded, failure };',
    tests: ['test/e2e/abandon.test.ts'],
  },
  {
    name: 'apply sends another plan than the one that was confirmed',
    file: 'src/command/confirm-sending.ts',
    find: 'if (confirm === undefined || COUNT.test(confirm) || confirm === plan.id) return;',
    replace: "if (confirm !== '') return;",
    tests: ['test/library/plan-apply.test.ts'],
  },
  {
    name: 'rows in doubt of the run before are forgotten where the last one ended well',
    file: 'src/verbs/job-result.ts',
    find: '...summaries.map((each) => each.exitCode),',
    replace: '...summaries.slice(-1).map((each) => each.exitCode),',
    tests: ['test/e2e/abandon.test.ts'],
  },
  {
    name: 'a command keeps the lock of the job once it has ended',
    file: 'src/command/with-job.ts',
    find: 'await lock.release();',
    replace: 'if (directory === lock.toString()) await lock.release();',
    tests: ['test/e2e/one-memory.test.ts', 'test/library/plan-apply.test.ts'],
  },
  {
    name: 'a disk that fails behind what was sent is taken for one that failed before',
    file: 'src/command/send-job.ts',
    find: 'placeInRun(error);',
    replace: 'placeInRun(undefined);',
    tests: ['test/e2e/damage.test.ts'],
    title:
      'a run that cannot write who had what once it has sent ends with 4, not as one that did not start, and is advised to nothing that sends again',
  },
  {
    name: 'a run of every day that is resumed behind midnight begins the next day at once',
    file: 'src/registry/read-runs.ts',
    find: 'if (resumed.includes(plan)) return true;',
    replace: 'if (resumed.includes(plan)) return false;',
    tests: ['test/e2e/taken-once.test.ts'],
    title:
      'a job of every day that is started behind midnight, when its run has ended, hours later, where its report is not written yet, sends nothing',
  },
  {
    name: 'a run of every day that ended behind midnight is followed by the next day at once',
    file: 'src/registry/read-runs.ts',
    find: 'startedAt - overAt(ended) < STARTED_AGAIN_MS',
    replace: 'startedAt - overAt(ended) < 0',
    tests: ['test/e2e/taken-once.test.ts'],
    title:
      'a job of every day that is started behind midnight, when its run has ended, within the hour, as a scheduler that was refused or killed does, sends nothing',
  },
  {
    name: 'a run that a clock dated into the future is of the night of each start until then',
    file: 'src/registry/read-runs.ts',
    find: 'if (begun.at - start.nowMs >= HALF_DAY_MS) return false;',
    replace: '',
    tests: ['test/e2e/taken-once.test.ts'],
    title: 'a job of every day sends its days, though a run before was dated into the future by a clock that was ahead',
  },
  {
    name: 'a job of every day writes twice a day to those whose export came twice',
    file: 'src/people/had-already.ts',
    find: "occurrence === '' || isDay(occurrence) ? 'hold'",
    replace: "occurrence === '' ? 'hold'",
    tests: ['test/e2e/taken-once.test.ts'],
    title:
      'a job of every day whose export comes once more, with a row added, sends to those who had nothing that day; the next day to all',
  },
  {
    name: 'a run whose steps were taken out of the job is resumed without their keys',
    file: 'src/verbs/run.ts',
    find: 'const place = { directory, waits: wait, standsBy, listAreas };',
    replace: 'const place = { directory, waits: wait, standsBy, ...(file === undefined && { listAreas }) };',
    tests: ['test/e2e/changed-job.test.ts'],
    title: 'a run whose steps were taken out of the job is brought to its end with their keys',
  },
  {
    name: 'what the service holds of other runs is not said by cancel',
    file: 'src/registry/waiting-messages.ts',
    find: 'if (waiting !== undefined) found.push(waiting);',
    replace: 'if (waiting?.messages === 0) found.push(waiting);',
    tests: ['test/e2e/cancel.test.ts'],
    title: 'of a job the newest run is taken back: where the service holds messages of others',
  },
];
