import { type AddVerbs, brief, json, readPort, textOption } from './verb.js';

const port = (otherwise: string) => ({ ...textOption('0 takes any free port'), default: otherwise });
const host = { describe: 'Address to listen on', type: 'string', default: '127.0.0.1', requiresArg: true } as const;

/** `volley listen`, `volley sandbox`: they serve until a signal. */
export const addServerVerbs: AddVerbs = (cli, { terminal, finish }) =>
  cli
    .command(
      'listen',
      'Receive webhook events and delivery receipts into a file until a signal; its first line on stdout is JSON',
      (command) =>
        brief(command, 'listen', terminal)
          .options({
            port: port('8080'),
            host,
            output: textOption('File that gets each event once, one JSON object a line; an existing file is continued'),
            run: textOption(
              'A run directory: receives the delivery receipts of that run (default output: its receipts.ndjson)',
            ),
            'secret-env': textOption(
              'Environment variable that holds the secret, which senders put into the path or a header',
            ),
            'secret-file': textOption('File that holds the secret'),
            json,
          })
          .example('$0 listen --output events.ndjson --secret-env HOOK_SECRET', '')
          .example('$0 listen --run out/spring-sale/k3v9q2m8x4aa --port 0', ''),
      ({ port, host, output, run, secretEnv, secretFile, json }) =>
        finish(
          import('../commands/listen-for-events.js').then(({ listenForEvents }) =>
            listenForEvents({ port: readPort(port), host, output, run, secretEnv, secretFile, json }, terminal),
          ),
        ),
    )
    .command(
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
          import('../commands/serve-sandbox.js').then(({ serveSandbox }) =>
            serveSandbox({ port: readPort(port), host, data, deliverOutside }, terminal),
          ),
        ),
    );
