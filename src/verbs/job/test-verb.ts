import { type AddVerbs, adopt, brief, json, KEEP_EACH, takeAll, takeOne, textArgument, textOption } from '../verb.js';

/** `volley test JOB|RUN` */
export const addTestVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'test <job|run>',
    'Send real messages of a job or a plan to your own numbers, at once; nothing of the job is taken',
    (command) =>
      brief(command, 'test <job|run>', terminal)
        .parserConfiguration(KEEP_EACH)
        .positional('job', textArgument('A job file; or a run directory, as plan and run print it'))
        .options({
          to: textOption(
            'Your numbers: separated by commas, or the flag once for each, 20 at most (default: testNumbers of the job)',
          ),
          row: textOption('Only the row with this number in its file, without the header'),
          longest: { describe: 'The messages with the most SMS parts', type: 'boolean' },
          ucs2: { describe: 'Messages with a character that forces UCS-2', type: 'boolean' },
          random: textOption('Rows drawn at random by this word; the same word draws the same rows'),
          count: textOption('How many rows of each step, 20 at most (default: 1)'),
          adopt,
          json,
        })
        .example('$0 test out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --to +6591234567 --longest', ''),
    ({ job, to, row, longest, ucs2, random, count, adopt, json }) =>
      finish(
        import('../../commands/test-run/send-test.js').then(({ sendTest }) =>
          sendTest(
            {
              of: job,
              to: takeAll('to', to),
              row: takeOne('row', row),
              longest,
              ucs2,
              random: takeOne('random', random),
              count: takeOne('count', count),
              adopt,
              json,
            },
            terminal,
          ),
        ),
      ),
  );
