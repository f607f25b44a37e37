import { type AddVerbs, brief, json } from '../verb.js';

/** `volley runs [JOB|DIRECTORY]` */
export const addRunsVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'runs [job]',
    'List the runs of a job, the newest first, those that are gone included',
    (command) =>
      brief(command, 'runs [job]', terminal)
        .positional('job', {
          describe:
            'A job file, the directory of a job in the output, or an output directory (default: this directory)',
          type: 'string',
        })
        .options({ json })
        .example('$0 runs jobs/spring-sale.yaml', 'one job')
        .example('$0 runs out', 'all jobs whose output is there'),
    ({ job, json }) =>
      finish(import('../../commands/runs/show-runs.js').then(({ showRuns }) => showRuns({ job, json }, terminal))),
  );
