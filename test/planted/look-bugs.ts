import type { PlantedBug } from './planted-bug.js';

/** Verbs that look at jobs and runs, and those that decide what becomes of a run. */
export const LOOK_BUGS: readonly PlantedBug[] = [
  {
    name: 'cancel exits with 0 though messages are in doubt',
    file: 'src/verbs/cancel.ts',
    find: 'inDoubt > 0 ? EXIT.inDoubt : kept',
    replace: 'inDoubt > 0 ? EXIT.ok : kept',
    tests: ['test/e2e/cancel.test.ts'],
  },
  {
    name: 'check exits with 0 though the job has faults',
    file: 'src/verbs/check.ts',
    find: 'problems.throwIfAny();',
    replace: '',
    tests: ['test/verbs/check.test.ts'],
  },
  {
    name: 'status counts as open what was in flight when its process died',
    file: 'src/verbs/status.ts',
    find: 'isRunning ? balanceOf(planned, state) : balanceAtRest(planned, state, job),',
    replace: 'balanceOf(planned, state),',
    tests: ['test/e2e/open-doubt.test.ts'],
  },
];
