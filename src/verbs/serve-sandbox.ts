import { startSandbox } from '../sandbox/sandbox.js';
import { defineVerb, host, port, text, yes } from './verb.js';

/** `volley sandbox`: the service itself on a local port, until a signal. Its first line on stdout is JSON, and says whether anything may leave this machine. */
export const sandbox = defineVerb({
  args: {},
  flags: {
    port: port(4010),
    host,
    data: text('Directory that keeps its state over restarts'),
    'deliver-outside': yes('Post receipts and events to any address; without this flag only to this machine'),
  },
  examples: [['--port 4010', 'then: curl http://127.0.0.1:4010/_sandbox/ledger']],
  isLook: true,
  run: async ({ port, host, data, deliverOutside: deliversOutside }, { terminal }) => {
    const dataDirectory = data === undefined ? {} : { dataDirectory: data };
    const { origin, credentials, close } = await startSandbox({ port, host, deliversOutside, ...dataDirectory });
    try {
      const ended = new Promise<void>((resolve) => {
        terminal.onSignal(() => resolve());
      });
      const ready = { state: 'listening', exitCode: null, error: null, origin, credentials, deliversOutside };
      await terminal.writeStdout(`${JSON.stringify(ready)}\n`);
      await ended;
    } finally {
      await close();
    }
    return { text: '' };
  },
});
