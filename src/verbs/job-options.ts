import type { Argv } from 'yargs';
import { brief, textArgument, type VerbContext } from './verb.js';

export const again = {
  describe: 'Send files again that the job has already sent',
  type: 'boolean',
  default: false,
} as const;
export const ignoreOpenDoubt = {
  describe: 'Rows that earlier runs of the job left in doubt do not count for the exit code this time',
  type: 'boolean',
  default: false,
} as const;

export const wait = {
  describe: 'Wait for `notBefore` of the job, then send; without it, the command ends with 75 before that time',
  type: 'boolean',
  default: false,
} as const;

/** The argument of a verb on a job; `required`: an example of the flags that it cannot do without. */
export const jobArgument = (command: Argv, verb: string, { terminal }: VerbContext, required = '') =>
  brief(command, `${verb} <job>${required}`, terminal).positional('job', textArgument('The job file (YAML or JSON)'));
/** The argument of a verb that takes a run directory alone. */
export const runArgument = (command: Argv, verb: string, { terminal }: VerbContext) =>
  brief(command, `${verb} <run>`, terminal).positional(
    'run',
    textArgument('A run directory, as plan and run print it'),
  );
/** The argument of a verb on a run; `required`: as above. */
export const namedRunArgument = (command: Argv, verb: string, { terminal }: VerbContext, required = '') =>
  brief(command, `${verb} <run>${required}`, terminal).positional(
    'run',
    textArgument(
      'A run directory, as plan and run print it; or a job file, or its directory in the output: its newest run',
    ),
  );
