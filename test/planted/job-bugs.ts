import type { PlantedBug } from './planted-bug.js';

const FAULTY = ['test/job/faulty.test.ts'];

/** What a job file may say, what is said of its faults, and what is made of it. */
export const JOB_BUGS: readonly PlantedBug[] = [
  {
    name: 'a secret that stands in the job file is repeated in the error',
    file: 'src/job/explain/finding.ts',
    find: 'SECRETS.includes(path.slice(0, 2)',
    replace: 'SECRETS.includes(path.slice(0, 1)',
    tests: FAULTY,
  },
  {
    name: 'a fault is placed at the end of the line before it',
    file: 'src/job/explain/read-yaml.ts',
    find: 'const before = text.slice(0, offset);',
    replace: 'const before = text.slice(0, offset).trimEnd();',
    tests: FAULTY,
  },
  {
    name: 'of several faults of a job only the first is named',
    file: 'src/job/load.ts',
    find: 'of error.issues.flatMap(',
    replace: 'of error.issues.slice(0, 1).flatMap(',
    tests: FAULTY,
  },
  {
    name: 'a misspelt key of an input is passed over',
    file: 'src/job/schema/written-input.ts',
    find: 'export const writtenList = z\n  .strictObject({',
    replace: 'export const writtenList = z\n  .object({',
    tests: FAULTY,
  },
  {
    name: 'a batch may have one message more than the service takes',
    file: 'src/job/schema/values.ts',
    find: 'return z.int().min(1).max(most);',
    replace: 'return z.int().min(1).max(most < 1e15 ? most + 1 : most);',
    tests: FAULTY,
  },
  {
    name: 'a local time west of Greenwich is scheduled as if it were east of it',
    file: 'src/job/local-time.ts',
    find: "offsetMs < 0 ? '-' : '+'",
    replace: "offsetMs < 0 ? '+' : '+'",
    tests: ['test/job/local-time.property.test.ts'],
  },
  {
    name: 'a rule over several keys waits until all else is right',
    file: 'src/job/schema/written-job.ts',
    find: '.superRefine(checkJob, whenSound())\n  .describe(',
    replace: '.superRefine(checkJob)\n  .describe(',
    tests: FAULTY,
  },
  {
    name: 'a rule over several keys of a step waits until all of the step is right',
    file: 'src/job/schema/words.ts',
    find: '!issues.some(({ path }) =>',
    replace: '!issues.some(({ path }) => path ||',
    tests: FAULTY,
  },
  {
    name: 'the name of the environment variable is sent as the key',
    file: 'src/command/open-service.ts',
    find: '? env[source.env] :',
    replace: '? source.env :',
    tests: ['test/command/read-secrets.test.ts'],
  },
  {
    name: 'the shared key is taken where an area has its own',
    file: 'src/job/resolve-job.ts',
    find: 'keyOf(own.sms ?? shared)',
    replace: 'keyOf(shared ?? own.sms)',
    tests: ['test/job/load.test.ts'],
  },
  {
    name: 'a job on the sandbox has the addresses of the service',
    file: 'src/job/resolve-job.ts',
    find: 'bases: sandbox ? SANDBOX_BASES : addresses',
    replace: 'bases: account === SANDBOX_ACCOUNT && !sandbox ? SANDBOX_BASES : addresses',
    tests: ['test/job/load.test.ts'],
  },
];
