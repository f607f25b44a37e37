import { type AddVerbs, brief, json, textArgument, textOption } from '../verb.js';

/** `volley preview JOB|RUN` */
export const addPreviewVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'preview <job|run>',
    'Show messages as people get them, with the rows behind them; writes nothing and sends nothing',
    (command) =>
      brief(command, 'preview <job|run>', terminal)
        .positional('job', textArgument('A job file; or a run directory, as plan and run print it'))
        .options({
          row: textOption('Only the row with this number in its file, without the header; also if it is not sent'),
          to: textOption('Only the message to this number, or why it gets none'),
          longest: { describe: 'The messages with the most SMS parts', type: 'boolean' },
          ucs2: { describe: 'Messages with a character that forces UCS-2', type: 'boolean' },
          random: textOption('Rows drawn at random by this word; the same word draws the same rows'),
          count: textOption('How many rows of each step (default: 5)'),
          'show-numbers': { describe: 'Show whole numbers; by default they are masked', type: 'boolean' },
          json,
        })
        .example('$0 preview jobs/spring-sale.yaml --ucs2', 'which texts cost more, and why'),
    ({ job, row, to, longest, ucs2, random, count, showNumbers, json }) =>
      finish(
        import('../../commands/preview/preview.js').then(({ preview }) =>
          preview({ of: job, row, to, longest, ucs2, random, count, showNumbers, json }, terminal),
        ),
      ),
  );
