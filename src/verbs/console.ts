import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { placeDiskErrors } from '../command/disk-error.js';
import { endOnSignal } from '../command/signals.js';
import { Access } from '../console/access.js';
import { startConsole } from '../console/server.js';
import { UserError } from '../domain/errors.js';
import { json, port, text, yes } from './flags.js';
import { defineVerb } from './verb.js';

/** `volley console`: campaigns from a file to the report in a browser, on this machine, until a signal. Its first line says the link that opens it. */
export const console = defineVerb({
  args: {},
  flags: {
    directory: { ...text('Directory that has the campaigns, in campaigns/'), default: '.' },
    port: port(4020),
    link: yes('Print a new link for a console that is running on the directory, and end'),
    json,
  },
  examples: [['', 'then open the link that it prints']],
  names: ({ directory }) => ({ directory }),
  run: (flags, context) => {
    const directory = resolve(flags.directory);
    const { env, terminal, screen, stop, name } = context;
    const own = join(directory, '.console');
    const access = new Access(own, env);
    const linkTo = async (origin: string) => `${origin}/enter?link=${await access.createLink()}`;
    if (flags.link) {
      return placeDiskErrors(directory, async () => {
        const origin = await readFile(join(own, 'origin'), 'utf8').catch(() => undefined);
        if (origin === undefined)
          throw new UserError('bad-flag', `Cannot make a link: no console was started on ${directory}`, {
            hint: 'Start one: volley console.',
          });
        const link = await linkTo(origin);
        return { json: { link }, text: `${link}\n`, reason: 'made a link' };
      });
    }
    return endOnSignal(context, () =>
      placeDiskErrors(directory, async () => {
        const cli = process.argv[1] ?? '';
        const { origin, close } = await startConsole({ directory, port: flags.port, cli }, context).catch((error) => {
          throw error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
            ? new UserError('bad-flag', `Cannot start the console: port ${flags.port} is in use`, {
                hint: 'Is one running? volley console --link opens it. Else give another --port.',
              })
            : error;
        });
        try {
          await env.files.makeDirectory(own);
          await env.files.writeWhole(join(own, 'origin'), origin);
          name({ origin });
          const link = await linkTo(origin);
          const isJson = flags.json ?? !screen.isTerminal;
          const said = `Open this link in a browser; it works once, within ten minutes:\n  ${link}\nCampaigns are in ${join(directory, 'campaigns')}. Ctrl-C ends the console; what it started to send goes on.\n`;
          await terminal.writeStdout(
            isJson ? `${JSON.stringify({ state: 'listening', exitCode: null, error: null, origin, link })}\n` : said,
          );
          await new Promise<void>((end) => {
            if (stop.isRequested) end();
            stop.nothingNew.addEventListener('abort', () => end(), { once: true });
          });
        } finally {
          await close();
        }
        return { text: '', reason: 'a signal came' };
      }),
    );
  },
});
