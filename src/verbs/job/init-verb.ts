import { type AddVerbs, brief, json, KEEP_EACH, takeAll, takeOne, textOption } from '../verb.js';

/** `volley init FILE…` */
export const addInitVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'init <file..>',
    'Write a job from an export: it finds the numbers, the country and the names, and runs on the sandbox',
    (command) =>
      brief(command, 'init <file..>', terminal)
        .parserConfiguration(KEEP_EACH)
        .positional('file', {
          describe: 'CSV, NDJSON or .xlsx files, as a tool exported them',
          type: 'string',
          demandOption: true,
        })
        .options({
          output: textOption('The job file to write; default: beside the first file, with its name'),
          destination: textOption('Column of the numbers, where several could be it'),
          country: textOption('Two letters: the country of numbers without +'),
          encoding: textOption('Encoding of the files, where it is not found, such as windows-1252'),
          sheet: textOption('Name of the sheet, where a workbook has several with rows'),
          json,
        })
        .example('$0 init people.csv', 'writes people.yaml'),
    ({ file, output, destination, country, encoding, sheet, json }) =>
      finish(
        import('../../commands/init/init-job.js').then(({ initJob }) =>
          initJob(
            {
              files: takeAll('file', file) ?? [],
              output: takeOne('output', output),
              destination: takeOne('destination', destination),
              country: takeOne('country', country),
              encoding: takeOne('encoding', encoding),
              sheet: takeOne('sheet', sheet),
              json,
            },
            terminal,
          ),
        ),
      ),
  );
