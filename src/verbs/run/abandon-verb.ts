import { runArgument } from '../job-options.js';
import { type AddVerbs, adopt, json } from '../verb.js';

/** `volley abandon RUN` */
export const addAbandonVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'abandon <run>',
    'Let a plan, or a run that stopped, go for good: it never sends again; what it did not send is free for another plan',
    (command) =>
      runArgument(command, 'abandon', context)
        .options({
          'dry-run': { describe: 'Show what would be let go, and change nothing', type: 'boolean', default: false },
          adopt,
          json,
        })
        .example(
          '$0 abandon out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --dry-run',
          'shows how many rows it has not sent',
        ),
    ({ run, dryRun, adopt, json }) =>
      finish(
        import('../../commands/runs/abandon-named-run.js').then(({ abandonNamedRun }) =>
          abandonNamedRun({ run, dryRun, adopt, json }, terminal),
        ),
      ),
  );
};
