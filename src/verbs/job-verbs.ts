import type { Argv } from 'yargs';
import { addAfterRunVerbs } from './after-run.js';
import { type AddVerbs, adopt, brief, json, NAMED_RUN, textArgument, type VerbContext } from './verb.js';

const again = { describe: 'Send files again that the job has already sent', type: 'boolean', default: false } as const;
const ignoreOpenDoubt = {
  describe: 'Rows that earlier runs of the job left in doubt do not count for the exit code this time',
  type: 'boolean',
  default: false,
} as const;

const jobArgument = (command: Argv, verb: string, { terminal }: VerbContext) =>
  brief(command, `${verb} <job>`, terminal).positional('job', textArgument('The job file (YAML or JSON)'));
const runArgument = (command: Argv, verb: string, { terminal }: VerbContext) =>
  brief(command, `${verb} <run>`, terminal).positional(
    'run',
    textArgument('A run directory, as plan and run print it'),
  );
const namedRunArgument = (command: Argv, verb: string, { terminal }: VerbContext) =>
  brief(command, `${verb} <run>`, terminal).positional('run', textArgument(NAMED_RUN));

/** `volley run|check|plan JOB`, `volley apply|status|report|settle|retry RUN` */
export const addJobVerbs: AddVerbs = (cli, context) =>
  addAfterRunVerbs(addRunVerbs(addPlanVerbs(cli, context), context), context);

function addPlanVerbs(cli: Argv, context: VerbContext): Argv {
  const { terminal, finish } = context;
  return cli
    .command(
      'run <job>',
      'Plan and apply a job; the same command again resumes where it stopped',
      (command) =>
        jobArgument(command, 'run', context)
          .options({ again, 'ignore-open-doubt': ignoreOpenDoubt, adopt, json })
          .example('$0 run jobs/spring-sale.yaml', 'contacts, then SMS, on the embedded sandbox'),
      ({ job, again, ignoreOpenDoubt, adopt, json }) =>
        finish(
          import('../commands/run-job.js').then(({ runJob }) =>
            runJob({ job, again, ignoreOpenDoubt, adopt, json }, terminal),
          ),
        ),
    )
    .command(
      'check <job>',
      'Check a job file, its secrets, and the first rows of its files',
      (command) =>
        jobArgument(command, 'check', context).options({ json }).example('$0 check jobs/spring-sale.yaml', ''),
      ({ job, json }) =>
        finish(import('../commands/check-job.js').then(({ checkJob }) => checkJob({ job, json }, terminal))),
    )
    .command(
      'plan <job>',
      'Read and check all input, write the exact requests, and show what would happen; sends nothing',
      (command) =>
        jobArgument(command, 'plan', context)
          .options({ again, adopt, json })
          .example('$0 plan jobs/spring-sale.yaml', 'then: volley apply'),
      ({ job, again, adopt, json }) =>
        finish(import('../commands/plan-job.js').then(({ planJob }) => planJob({ job, again, adopt, json }, terminal))),
    );
}

function addRunVerbs(cli: Argv, context: VerbContext): Argv {
  const { terminal, finish } = context;
  return cli
    .command(
      'apply <run>',
      'Send exactly the plan in a run directory, or resume it',
      (command) =>
        runArgument(command, 'apply', context)
          .options({
            confirm: { describe: 'Id of the plan that was reviewed; another one is refused', type: 'string' },
            'ignore-changed-inputs': {
              describe: 'Continue although an input file changed since the plan was made; the plan is sent as it is',
              type: 'boolean',
              default: false,
            },
            'ignore-open-doubt': ignoreOpenDoubt,
            adopt,
            json,
          })
          .example('$0 apply out/spring-sale/k3v9q2m8x4aa --confirm k3v9q2m8x4aa', ''),
      ({ run, confirm, ignoreChangedInputs, ignoreOpenDoubt, adopt, json }) =>
        finish(
          import('../commands/apply-run.js').then(({ applyRun }) =>
            applyRun({ run, confirm, ignoreChangedInputs, ignoreOpenDoubt, adopt, json }, terminal),
          ),
        ),
    )
    .command(
      'status <run>',
      'Show the progress of a run',
      (command) =>
        namedRunArgument(command, 'status', context)
          .options({ json })
          .example('$0 status jobs/spring-sale.yaml', 'its newest run'),
      ({ run, json }) =>
        finish(import('../commands/show-status.js').then(({ showStatus }) => showStatus({ run, json }, terminal))),
    )
    .command(
      'report <run>',
      'Write the outputs of a run again, its page report.html among them',
      (command) =>
        namedRunArgument(command, 'report', context)
          .options({
            html: { type: 'boolean', describe: 'Print the path of report.html alone, to open or to mail it' },
            json,
          })
          .example('$0 report out/spring-sale/k3v9q2m8x4aa', '')
          .example('xdg-open "$($0 report jobs/spring-sale.yaml --html)"', 'shows the report of the newest run'),
      ({ run, html, json }) =>
        finish(import('../commands/report-run.js').then(({ reportRun }) => reportRun({ run, html, json }, terminal))),
    );
}
