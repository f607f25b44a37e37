import { namedRunArgument } from '../job-options.js';
import { type AddVerbs, json } from '../verb.js';

/** `volley status RUN` */
export const addStatusVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'status <run>',
    'Show the progress of a run',
    (command) =>
      namedRunArgument(command, 'status', context)
        .options({ json })
        .example('$0 status jobs/spring-sale.yaml', 'its newest run'),
    ({ run, json }) =>
      finish(import('../../commands/show-status.js').then(({ showStatus }) => showStatus({ run, json }, terminal))),
  );
};
