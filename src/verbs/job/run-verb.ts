import { again, ignoreOpenDoubt, jobArgument, wait } from '../job-options.js';
import { metricsOptions, readMetricsFlags } from '../metrics-options.js';
import { type AddVerbs, adopt, json } from '../verb.js';

/** `volley run JOB` */
export const addRunVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'run <job>',
    'Plan and apply a job; the same command again resumes where it stopped',
    (command) =>
      jobArgument(command, 'run', context)
        .options({ again, 'ignore-open-doubt': ignoreOpenDoubt, wait, ...metricsOptions, adopt, json })
        .example('$0 run jobs/spring-sale.yaml', 'contacts, then SMS, on the embedded sandbox'),
    ({ job, again, ignoreOpenDoubt, wait, adopt, json, ...more }) =>
      finish(
        import('../../commands/run-job.js').then(({ runJob }) =>
          runJob({ job, again, ignoreOpenDoubt, wait, adopt, json, metrics: readMetricsFlags(more) }, terminal),
        ),
      ),
  );
};
