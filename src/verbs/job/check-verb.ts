import { jobArgument } from '../job-options.js';
import { type AddVerbs, json } from '../verb.js';

/** `volley check JOB` */
export const addCheckVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'check <job>',
    'Check a job file, its secrets, its database, its price list, and the first rows of its files',
    (command) => jobArgument(command, 'check', context).options({ json }).example('$0 check jobs/spring-sale.yaml', ''),
    ({ job, json }) =>
      finish(import('../../commands/check-job.js').then(({ checkJob }) => checkJob({ job, json }, terminal))),
  );
};
