import { namedRunArgument } from '../job-options.js';
import { type AddVerbs, adopt, json } from '../verb.js';

/** `volley cancel RUN` */
export const addCancelVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'cancel <run>',
    'Take back scheduled messages that the service has accepted and not sent yet; sends nothing',
    (command) =>
      namedRunArgument(command, 'cancel', context)
        .options({ adopt, json })
        .example('$0 cancel jobs/spring-sale.yaml', 'takes back the newest run, as far as its time has not come'),
    ({ run, adopt, json }) =>
      finish(
        import('../../commands/cancel/cancel-run.js').then(({ cancelRun }) =>
          cancelRun({ run, adopt, json }, terminal),
        ),
      ),
  );
};
