import { metricsPortOptions, readMetricsFlags } from '../metrics-options.js';
import { host, port } from '../server-options.js';
import { type AddVerbs, brief, json, readPort, textOption } from '../verb.js';

/** `volley listen`: serves until a signal */
export const addListenVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
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
          ...metricsPortOptions,
          json,
        })
        .example('$0 listen --output events.ndjson --secret-env HOOK_SECRET', '')
        .example('$0 listen --run out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --port 0', ''),
    ({ port, host, output, run, secretEnv, secretFile, json, ...more }) =>
      finish(
        import('../../commands/listen-for-events.js').then(({ listenForEvents }) =>
          listenForEvents(
            {
              port: readPort(port),
              host,
              output,
              run,
              secretEnv,
              secretFile,
              json,
              metrics: readMetricsFlags(more),
            },
            terminal,
          ),
        ),
      ),
  );
