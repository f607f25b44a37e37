import { namedRunArgument } from '../job-options.js';
import { type AddVerbs, adopt, json, KEEP_EACH, takeOne, textOption } from '../verb.js';

/** `volley retry RUN`: another plan for rows that a run could not bring to an end */
export const addRetryVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'retry <run>',
    'Make a plan of rows that a run did not send, or that the service refused; volley apply sends it',
    (command) =>
      namedRunArgument(command, 'retry', context, ' --only rejected')
        .parserConfiguration(KEEP_EACH)
        .options({
          only: {
            ...textOption(
              'Which rows: rejected by the service, unprocessed by a run that stopped, not-sent as settled, or filtered: left out by a filter (`where`) that lets them in now',
            ),
            demandOption: true,
          },
          code: textOption('With --only rejected: only those with one of these codes, separated by commas'),
          job: textOption(
            'Job file whose text, sender, times and `where` are used now, in place of those that the run was planned with',
          ),
          adopt,
          json,
        })
        .example('$0 retry out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --only rejected --code 1100,REJECTED', '')
        .example('$0 retry out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --only not-sent', ''),
    ({ run, only, code, job, adopt, json }) =>
      finish(
        import('../../commands/retry-run-rows.js').then(({ retryRows }) =>
          retryRows(
            {
              run,
              only: takeOne('only', only) ?? '',
              code: takeOne('code', code),
              job: takeOne('job', job),
              adopt,
              json,
            },
            terminal,
          ),
        ),
      ),
  );
};
