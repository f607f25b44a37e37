import type { Argv } from 'yargs';
import { UserError } from '../domain/errors.js';
import { adopt, brief, json, NAMED_RUN, textArgument, textOption, type VerbContext } from './verb.js';

const runArgument = (command: Argv, verb: string, { terminal }: VerbContext) =>
  brief(command, `${verb} <run>`, terminal).positional('run', textArgument(NAMED_RUN));

/** A text option that was given several times is a list of them: which is meant decides whether people get a message twice. */
const KEEP_EACH = { 'duplicate-arguments-array': true };

/** The values of a text option; undefined without any. Of lists, and of `--no-…`, the parser's types do not tell. */
function takeAll(name: string, given: unknown): readonly string[] | undefined {
  if (given === undefined) return undefined;
  return [given].flat().map((value) => {
    if (typeof value === 'string') return value;
    throw new UserError('bad-flag', `Cannot read --${name}: it is given without its value, expected one`);
  });
}

/** The one value of an option. */
function takeOne(name: string, given: unknown): string | undefined {
  const [value, ...others] = new Set(takeAll(name, given));
  if (others.length === 0) return value;
  const all = [value, ...others].map((each) => JSON.stringify(each)).join(' and ');
  throw new UserError('bad-flag', `Cannot use --${name}: ${all} are given, expected one`);
}

/** `volley settle RUN`, `volley retry RUN`: what a person does about rows that a run could not bring to an end. */
export function addAfterRunVerbs(cli: Argv, context: VerbContext): Argv {
  const { terminal, finish } = context;
  return cli
    .command(
      'settle <run>',
      "Settle rows in doubt, by the service's message export or by your own decision; sends nothing",
      (command) =>
        runArgument(command, 'settle', context)
          .parserConfiguration(KEEP_EACH)
          .options({
            export: textOption(
              'CSV file of the message export; give the flag once for each file. A row in it was accepted; a row that is missing was not sent, if the files cover its time and country',
            ),
            assume: textOption(
              'Your own decision on all rows in doubt: sent or not-sent; recorded with your name and the time',
            ),
            confirm: textOption('With --assume: how many rows are in doubt; another number is refused'),
            adopt,
            json,
          })
          .example('$0 settle out/spring-sale/k3v9q2m8x4aa --export messages.csv', '')
          .example('$0 settle out/spring-sale/k3v9q2m8x4aa --assume not-sent --confirm 12', ''),
      ({ run, export: exported, assume, confirm, adopt, json }) =>
        finish(
          import('../commands/settle-run.js').then(({ settleRun }) =>
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
    )
    .command(
      'retry <run>',
      'Make a plan of rows that a run did not send, or that the service refused; volley apply sends it',
      (command) =>
        runArgument(command, 'retry', context)
          .parserConfiguration(KEEP_EACH)
          .options({
            only: {
              ...textOption(
                'Which rows: rejected by the service, unprocessed by a run that stopped, or not-sent as settled',
              ),
              demandOption: true,
            },
            code: textOption('With --only rejected: only those with one of these codes, separated by commas'),
            job: textOption(
              'Job file whose text, sender and times are used now, in place of those that the run was planned with',
            ),
            adopt,
            json,
          })
          .example('$0 retry out/spring-sale/k3v9q2m8x4aa --only rejected --code 1100,REJECTED', '')
          .example('$0 retry out/spring-sale/k3v9q2m8x4aa --only not-sent', ''),
      ({ run, only, code, job, adopt, json }) =>
        finish(
          import('../commands/retry-run-rows.js').then(({ retryRows }) =>
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
}
