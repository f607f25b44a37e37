import { type AddVerbs, brief } from './verb.js';

/** `volley schema` */
export const addSchemaVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'schema',
    'Print the JSON Schema of a job file, for editors',
    (command) => brief(command, 'schema', terminal).example('$0 schema > job.schema.json', ''),
    () => finish(import('../commands/print-schema.js').then(({ printSchema }) => printSchema(terminal))),
  );
