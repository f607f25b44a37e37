import { jobArgument } from '../job-options.js';
import { type AddVerbs, adopt, json, textOption } from '../verb.js';

/** `volley prune JOB` */
export const addPruneVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'prune <job>',
    'Delete the rows of runs that ended long ago; what they sent stays known, and is not sent again',
    (command) =>
      jobArgument(command, 'prune', context, ' --older-than 90d')
        .options({
          'older-than': {
            ...textOption('Only runs that ended so long ago: hours, days or weeks, such as 90d'),
            demandOption: true,
          },
          'keep-last': textOption('Keep so many of the newest runs, whatever their age'),
          'dry-run': { describe: 'Show what would be deleted, and delete nothing', type: 'boolean', default: false },
          adopt,
          json,
        })
        .example('$0 prune jobs/spring-sale.yaml --older-than 90d --dry-run', 'shows what would go'),
    ({ job, olderThan, keepLast, dryRun, adopt, json }) =>
      finish(
        import('../../commands/runs/prune-job.js').then(({ pruneJob }) =>
          pruneJob({ job, olderThan, keepLast, dryRun, adopt, json }, terminal),
        ),
      ),
  );
};
