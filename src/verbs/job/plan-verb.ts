import { again, jobArgument } from '../job-options.js';
import { type AddVerbs, adopt, json } from '../verb.js';

/** `volley plan JOB` */
export const addPlanVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'plan <job>',
    'Read and check all input, write the exact requests, and show what would happen; sends nothing',
    (command) =>
      jobArgument(command, 'plan', context)
        .options({ again, adopt, json })
        .example('$0 plan jobs/spring-sale.yaml', 'then: volley apply'),
    ({ job, again, adopt, json }) =>
      finish(
        import('../../commands/plan-job.js').then(({ planJob }) => planJob({ job, again, adopt, json }, terminal)),
      ),
  );
};
