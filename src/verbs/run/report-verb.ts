import { namedRunArgument } from '../job-options.js';
import { type AddVerbs, json } from '../verb.js';

/** `volley report RUN` */
export const addReportVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'report <run>',
    'Write the outputs of a run again, its page report.html among them',
    (command) =>
      namedRunArgument(command, 'report', context)
        .options({
          html: { type: 'boolean', describe: 'Print the path of report.html alone, to open or to mail it' },
          json,
        })
        .example('$0 report out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa', '')
        .example('xdg-open "$($0 report jobs/spring-sale.yaml --html)"', 'shows the report of the newest run'),
    ({ run, html, json }) =>
      finish(import('../../commands/report-run.js').then(({ reportRun }) => reportRun({ run, html, json }, terminal))),
  );
};
