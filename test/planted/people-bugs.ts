import type { PlantedBug } from './planted-bug.js';

/** What is looked at again right before messages leave, and what runs know of each other. The simulation finds each, too. */
export const PEOPLE_BUGS: readonly PlantedBug[] = [
  {
    name: 'a list of opt-outs is not looked at again while a run sends',
    file: 'src/command/send-job.ts',
    find: 'refresh: async () => lists?.refresh(),',
    replace: 'refresh: async () => {},',
    tests: ['test/e2e/opt-outs.test.ts'],
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
    file: 'src/people/had-already.ts',
    find: 'await notePeople(files, run, { nowMs, rows, findHad });',
    replace: 'if (rows.state.lastSentAt !== undefined) await notePeople(files, run, { nowMs, rows, findHad });',
    tests: ['test/e2e/had-memory.test.ts'],
    title: 'the same job in the same, unfinished has the same plan id, and writes to no one again',
  },
  {
    name: 'other runs learn whom a run sends to only as it begins, not as it resumes',
    file: 'src/people/had-already.ts',
    find: 'await notePeople(files, run, { nowMs, rows, findHad });',
    replace: 'if (rows.state.lastSentAt === undefined) await notePeople(files, run, { nowMs, rows, findHad });',
    tests: ['test/e2e/had-memory.test.ts'],
    title: 'what a resumed run sends, after it was held at its beginning, counts for others from then on',
  },
  {
    name: 'of two runs that resume in one moment none sees what the other has just written',
    file: 'src/people/people-memory.ts',
    find: "return [name, bytes, inode, changedMs].join(' ');",
    replace: 'return name;',
    tests: ['test/people/had-already.test.ts'],
  },
  {
    name: 'what another directory sent under the same plan id is taken for its own',
    file: 'src/people/people-memory.ts',
    find: 'return one !== undefined && one.plan === other?.plan && one.begun === other.begun;',
    replace: 'return one !== undefined && one.plan === other?.plan;',
    tests: ['test/e2e/had-memory.test.ts'],
    title:
      'of two directories that have one plan, the one that is sent later holds what the other has sent, and a retry too',
  },
  {
    name: 'a plan does not look at what another directory sent under its id',
    file: 'src/people/had-already.ts',
    find: '!isSameRun(head, begun?.mark)',
    replace: 'head.plan !== plan.id',
    tests: ['test/e2e/had-memory.test.ts'],
    title:
      'the same job in a directory that was removed, and its memory not has the same plan id, and writes to no one again',
  },
  {
    name: 'a run whose run.json is damaged has sent nothing, once its rows are pruned',
    file: 'src/people/missing-people.ts',
    find: 'return record === undefined || ',
    replace: 'return record !== undefined && ',
    tests: ['test/e2e/had-memory.test.ts'],
    title:
      'a run without rows, whose own files do not say that it sent nothing, is refused by jobs that share the memory',
  },
  {
    name: 'the two forms of a number are two people',
    file: 'src/normalize/number/number-set.ts',
    find: 'return personOf(number);',
    replace: 'return number;',
    tests: ['test/e2e/had-already.test.ts'],
    title:
      'the two forms of a number in Argentina are one person: within a step, across steps and jobs, and for people show',
  },
  {
    name: 'frequency does not count the rows of the plan itself',
    file: 'src/people/had-already.ts',
    find: "if (own === 'those before') table.addOwn(number);",
    replace: "if (own === 'none') table.addOwn(number);",
    tests: ['test/e2e/had-already.test.ts'],
    title: 'frequency counts the rows of one plan',
  },
  {
    name: 'what a memory lacks is made again of the runs of the job alone',
    file: 'src/people/missing-people.ts',
    find: 'isKnown ? !isOfMemory : isOfMemory || directory === owner.jobDirectory;',
    replace: 'isKnown ? !isOfMemory : directory === owner.jobDirectory;',
    tests: ['test/e2e/had-memory.test.ts'],
    title: 'a memory that jobs name knows their output directories, and makes again what it lost',
  },
  {
    name: 'a job that names another memory leaves its own runs behind',
    file: 'src/people/missing-people.ts',
    find: 'isKnown ? !isOfMemory : isOfMemory || directory === owner.jobDirectory;',
    replace: 'isKnown ? !isOfMemory : isOfMemory;',
    tests: ['test/e2e/had-memory.test.ts'],
    title:
      'a job that names a memory later takes its own runs along, and those only; so does one that names none any more',
  },
  {
    name: 'a second step with the same text does not know the first',
    file: 'src/people/had-already.ts',
    find: 'texts?.add(number, textOf, step);',
    replace: 'if (step === 0) texts?.add(number, textOf, step);',
    tests: ['test/e2e/had-already.test.ts'],
    title: 'two steps with one text write to a person once; twice in one step is what duplicates says',
  },
  {
    name: 'what a waiting stage holds back can be retried without it',
    file: 'src/retry/retry-run.ts',
    find: "if (choice.only === 'unprocessed' && !registry.state.isAbandoned(plan.id))",
    replace: "if (choice.only === 'filtered' && !registry.state.isAbandoned(plan.id))",
    tests: ['test/e2e/stages.test.ts'],
    title: 'what a waiting stage holds back is retried only once a person has let the run go',
  },
];
