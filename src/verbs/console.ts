import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { Context } from '../command/context.js';
import type { Env } from '../command/env.js';
import { describeFailure } from '../command/failure.js';
import { endOnSignal, untilSignal } from '../command/signals.js';
import type { Terminal } from '../command/terminal.js';
import { createAccess, openTeam, ROLES, type Team, type User } from '../console/access.js';
import type { Printed, ShortCommand } from '../console/commands.js';
import { startConsole } from '../console/server.js';
import { closing } from '../domain/closing.js';
import { InternalError, UserError } from '../domain/errors.js';
import { KnownLists } from '../plan/suppress/suppression-columns.js';
import { defineVerb, json, port, readAs, text, yes } from './verb.js';

const LOOPBACK = '127.0.0.1';

/** `volley console`: campaigns from a file to the report in a browser, until a signal: of one person on this machine, by a link, or of a team. */
export const console = defineVerb({
  args: {},
  flags: {
    directory: { ...text('Directory that has the campaigns, in campaigns/'), default: '.' },
    port: port(4020),
    link: yes('Print a new link for a console that is running on the directory without --users, and end'),
    users: text('File of the people who share the console, and what each may do'),
    add: {
      ...text('Add a person to --users, or make another password for one: print it, and end'),
      implies: ['users', 'role'],
    },
    role: { ...text('What the person may do'), choices: ROLES, implies: 'add' },
    host: {
      ...text('Address to listen on; one that is not of this machine alone takes --users and --origin'),
      default: LOOPBACK,
      // The name may be an IPv6 address alone, which the link would not name.
      coerce: (given: string) => (given === 'localhost' ? LOOPBACK : given),
    },
    origin: {
      ...readAs(
        'What browsers see, where a proxy is in front',
        'https:// and a name, such as https://volley.example.com',
        readOrigin,
      ),
      implies: 'users',
    },
    'user-header': {
      ...text('Header in which the proxy names who asks, such as X-Forwarded-User, in the place of passwords'),
      implies: 'origin',
    },
    json,
  },
  examples: [
    ['', 'then open the link that it prints'],
    ['--users users.csv --add Anna --role approver', ''],
    ['--users users.csv --host 0.0.0.0 --origin https://volley.example.com', ''],
  ],
  run: async (flags, context) => {
    const directory = resolve(flags.directory);
    const { env, terminal, name } = context;
    name({ directory: flags.directory });
    const own = join(directory, '.console');
    const access = createAccess(own, env);
    const linkTo = async (origin: string) => `${origin}/enter?link=${await access.createLink()}`;
    if (flags.link) {
      const origin = await readFile(join(own, '.origin'), 'utf8').catch(() => undefined);
      if (origin === undefined)
        throw new UserError(
          'bad-flag',
          `Cannot make a link: no console that is opened by a link was started on ${directory}`,
          { hint: 'Start one: volley console.' },
        );
      const link = await linkTo(origin);
      return { json: { link }, text: `${link}\n`, reason: 'made a link' };
    }
    const team = flags.users === undefined ? undefined : openTeam(resolve(flags.users), env.files);
    if (team !== undefined && flags.add !== undefined && flags.role !== undefined)
      return addToTeam(team, { name: flags.add, role: flags.role });
    assertSafe(flags);
    return endOnSignal(context, async () => {
      await team?.assertTwoApprove();
      const knownLists = new KnownLists();
      const loadReader: Env['loadReader'] = async () => ({ ...(await env.loadReader()), knownLists });
      const knowing = { ...context, env: { ...env, loadReader } };
      const given = { directory, team, runHere: (command: ShortCommand) => runHere(command, knowing) };
      await using served = closing(await startConsole({ ...flags, ...given }, context));
      const { origin } = served;
      await env.files.makeDirectory(own);
      if (team === undefined) await env.files.writeWhole(join(own, '.origin'), origin);
      else await env.files.remove(join(own, '.origin'));
      name({ origin });
      const link = team === undefined ? await linkTo(origin) : origin;
      const isJson = flags.json ?? !terminal.isStdoutTerminal;
      const open =
        team === undefined ? 'Open this link in a browser; it works once, within ten minutes' : 'Its people open it at';
      const said = `${open}:\n  ${link}\nCampaigns are in ${join(directory, 'campaigns')}. Ctrl-C ends the console; what it started to send goes on.\n`;
      await terminal.writeStdout(
        isJson ? `${JSON.stringify({ state: 'listening', exitCode: null, error: null, origin, link })}\n` : said,
      );
      await untilSignal(context);
      return { text: '', reason: 'a signal came' };
    });
  },
});

/** A command in this process, from its arguments to what it prints. */
async function runHere({ actor, directory, args }: ShortCommand, { env, terminal, screen }: Context): Promise<Printed> {
  let printed = '';
  const own: Terminal = {
    env: actor === undefined ? terminal.env : { ...terminal.env, VOLLEY_ACTOR: actor.name },
    stdin: Readable.from([]),
    isStdoutTerminal: false,
    isStderrTerminal: false,
    screen: { command: screen.command, directory },
    writeStdout: async (text) => {
      printed += text;
    },
    writeStderr: () => {},
    onSignal: () => () => {},
    leave: ({ error }) => {
      throw new InternalError('unexpected', error.message);
    },
    runtime: env,
  };
  try {
    await terminal.runCommandLine?.([...args, '--json'], own, screen.columns);
  } catch (error) {
    if (printed === '') return { ...describeFailure(error) };
  }
  return JSON.parse(printed);
}

async function addToTeam(team: Team, user: User) {
  const password = await team.add(user);
  return {
    json: { ...user, password },
    text: `${user.name} is ${user.role}, and enters with this password, which is shown only now:\n  ${password}\n`,
    reason: 'added a person',
  };
}

function readOrigin(given: string): string | undefined {
  return URL.canParse(given) && new URL(given).protocol === 'https:' ? new URL(given).origin : undefined;
}

/** Who is not on this machine comes by https and by name; no flag switches that off. */
function assertSafe({ host, users, origin }: { host: string; users: string | undefined; origin: string | undefined }) {
  if (host === LOOPBACK || (users !== undefined && origin !== undefined)) return;
  throw new UserError('bad-flag', `Cannot listen on ${host}: others reach it, expected --users and --origin with it`, {
    hint: 'For yourself alone, give no --host.',
  });
}
