import { namedRunArgument } from '../job-options.js';
import { type AddVerbs, adopt, json, KEEP_EACH, takeAll, takeOne, textOption } from '../verb.js';

/** `volley settle RUN`: what a person knows of rows in doubt */
export const addSettleVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'settle <run>',
    "Settle rows in doubt, by the service's message export or by your own decision; sends nothing",
    (command) =>
      namedRunArgument(command, 'settle', context)
        .parserConfiguration(KEEP_EACH)
        .options({
          export: textOption(
            'CSV file of the message export; give the flag once for each file. It settles the rows that it holds; those that it lacks stay in doubt',
          ),
          assume: textOption(
            'Your own decision on all rows in doubt: sent or not-sent; recorded with your name and the time. Refused before their scheduled time',
          ),
          confirm: textOption('With --assume: how many rows are in doubt; another number is refused'),
          adopt,
          json,
        })
        .example('$0 settle out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --export messages.csv', '')
        .example('$0 settle out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --assume not-sent --confirm 12', ''),
    ({ run, export: exported, assume, confirm, adopt, json }) =>
      finish(
        import('../../commands/settle-run.js').then(({ settleRun }) =>
          settleRun(
            {
              run,
              exported: takeAll('export', exported),
              assume: takeOne('assume', assume),
              confirm: takeOne('confirm', confirm),
              adopt,
              json,
            },
            terminal,
          ),
        ),
      ),
  );
};
