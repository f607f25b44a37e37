import { jobArgument } from '../job-options.js';
import { type AddVerbs, json } from '../verb.js';

/** `volley check JOB` */
export const addCheckVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'check <job>',
    'Check a job file, its secrets, its database, its price list, and the first rows of its files',
    (command) =>
      jobArgument(command, 'check', context)
        .options({
          online: {
            describe: 'Try the keys against the service, by reads of nothing that exists; sends nothing',
            type: 'boolean',
            default: false,
          },
          json,
        })
        .example('$0 check jobs/spring-sale.yaml', '')
        .example('$0 check jobs/spring-sale.yaml --online', 'also tries the keys; sends nothing'),
    ({ job, online, json }) =>
      finish(import('../../commands/check-job.js').then(({ checkJob }) => checkJob({ job, online, json }, terminal))),
  );
};
