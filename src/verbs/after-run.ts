import type { Argv } from 'yargs';
import { brief, json, textArgument, textOption, type VerbContext } from './verb.js';

const runArgument = (command: Argv, verb: string, { terminal }: VerbContext) =>
  brief(command, `${verb} <run>`, terminal).positional(
    'run',
    textArgument('A run directory, as plan and run print it'),
  );

/** `volley settle RUN`, `volley retry RUN`: what a person does about rows that a run could not bring to an end. */
export function addAfterRunVerbs(cli: Argv, context: VerbContext): Argv {
  const { terminal, finish } = context;
  return cli
    .command(
      'settle <run>',
      "Decide rows in doubt, by the service's message export or by your own word; sends nothing",
      (command) =>
        runArgument(command, 'settle', context)
          .options({
            export: textOption(
              'CSV file of the message export: a row in it was accepted; one that it lacks was not sent, if the file shows that it would hold it',
            ),
            assume: textOption(
              'Your own word for all rows in doubt: sent or not-sent; kept with your name and the time',
            ),
            confirm: textOption('With --assume: how many rows are in doubt; another number is refused'),
            json,
          })
          .example('$0 settle out/spring-sale/k3v9q2m8x4aa --export messages.csv', '')
          .example('$0 settle out/spring-sale/k3v9q2m8x4aa --assume not-sent --confirm 12', ''),
      ({ run, export: exported, assume, confirm, json }) =>
        finish(
          import('../commands/settle.js').then(({ settleRun }) =>
            settleRun({ run, exported, assume, confirm, json }, terminal),
          ),
        ),
    )
    .command(
      'retry <run>',
      'Make a plan of rows that a run did not send, or that the service refused; volley apply sends it',
      (command) =>
        runArgument(command, 'retry', context)
          .options({
            only: {
              ...textOption(
                'Which rows: rejected by the service, unprocessed by a run that stopped, or not-sent as settled',
              ),
              demandOption: true,
            },
            code: textOption('With --only rejected: only those with one of these codes, separated by commas'),
            json,
          })
          .example('$0 retry out/spring-sale/k3v9q2m8x4aa --only rejected --code 1100,REJECTED', '')
          .example('$0 retry out/spring-sale/k3v9q2m8x4aa --only not-sent', 'then: volley apply'),
      ({ run, only, code, json }) =>
        finish(import('../commands/retry.js').then(({ retryRows }) => retryRows({ run, only, code, json }, terminal))),
    );
}
