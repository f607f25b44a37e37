import type { PlantedBug } from './planted-bug.js';

/** What is looked at again right before messages leave, and what runs know of each other. The simulation finds each, too. */
export const PEOPLE_BUGS: readonly PlantedBug[] = [
  {
    name: 'a list of opt-outs is not looked at again while a run sends',
    file: 'src/command/send-job.ts',
    find: 'refresh: async () => lists?.refresh(),',
    replace: 'refresh: async () => {},',
    tests: ['test/e2e/withheld.test.ts'],
  },
  {
    name: 'a list of opt-outs is not looked at again at the gate',
    file: 'src/run/send/send-part.ts',
    find: 'if (kind.recipients !== undefined) await deps.withholding?.refresh();',
    replace: 'if (kind.recipients === null) await deps.withholding?.refresh();',
    tests: ['test/run/withheld.test.ts'],
  },
  {
    name: 'other runs learn whom a run sends to only once it has ended',
    file: 'src/people/people-memory.ts',
    find: 'if (!(await isNoted(files, run))) await',
    replace: 'if ((await isNoted(files, run)) === undefined) await',
    tests: ['test/e2e/had-already.test.ts'],
    title: 'a run whose process was killed counts with all that it has yet to send',
  },
  {
    name: 'frequency does not count the rows of the plan itself',
    file: 'src/people/had-already.ts',
    find: "if (own === 'those before') table.addOwn(number);",
    replace: "if (own === 'none') table.addOwn(number);",
    tests: ['test/e2e/had-already.test.ts'],
    title: 'frequency counts the rows of one plan',
  },
];
