import { host, port } from '../server-options.js';
import { type AddVerbs, brief, readPort, textOption } from '../verb.js';

/** `volley sandbox`: serves until a signal */
export const addSandboxVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'sandbox',
    'Serve the local sandbox until a signal; its first line on stdout is JSON',
    (command) =>
      brief(command, 'sandbox', terminal)
        .options({
          port: port('4010'),
          host,
          data: textOption('Directory that keeps its state over restarts'),
          'deliver-outside': {
            describe: 'Post receipts and events to any address; without this flag only to this machine',
            type: 'boolean',
            default: false,
          },
        })
        .example('$0 sandbox --port 4010', 'then: curl http://127.0.0.1:4010/_sandbox/ledger'),
    ({ port, host, data, deliverOutside }) =>
      finish(
        import('../../commands/serve-sandbox.js').then(({ serveSandbox }) =>
          serveSandbox({ port: readPort(port), host, data, deliverOutside }, terminal),
        ),
      ),
  );
