import { debuglog } from 'node:util';
import yargs, { type Argv, type Options, type PositionalOptions } from 'yargs';
import type { Logging, Terminal } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';
import { PROGRAM } from '../domain/program.js';
import { suggestNearest } from '../domain/text.js';
import type { LogFormat, LogLevel } from '../ports/log-level.js';
import { type AnyVerb, type Flag, type Group, type Listed, logFlags, nameOf } from './verb.js';
import { LIST, VERBS } from './verbs.js';

/**
 * Reads the arguments and runs the command of their verb: gives its exit code, and rejects with what it throws. Help is answered, and misuse
 * refused with 'bad-flag', without any command.
 */
export async function runCommandLine(typed: readonly string[], terminal: Terminal, columns: number): Promise<number> {
  terminal.runCommandLine = runCommandLine;
  assertNodeIsSilent();
  const args = expandHelp(moveVerbFirst(endFlags(typed)));
  const asked = await findAsked(args);
  const refuse = (misuse: string) => new UserError('bad-flag', misuse, { hint: explainUse(asked) });
  const misuse = asked.verb === undefined ? findMissingVerb(args, asked) : findWrongFlag(args, asked.verb);
  if (misuse !== undefined) throw refuse(misuse);
  let exitCode = 0;
  let printed = '';
  const run: RunVerb = async (name, verb, flags) => {
    terminal.logging = readLogging(flags, terminal);
    // The second says why a command failed: later there may be no file descriptor left to load it with.
    const [{ runVerb }] = await Promise.all([import('../command/runner.js'), import('../command/failure.js')]);
    exitCode = await runVerb(name, verb, flags, terminal);
  };
  let cli = yargs()
    .scriptName('volley')
    .version(describeProgram())
    .parserConfiguration({ 'dot-notation': false })
    .updateStrings(WORDS as object as Record<string, string>)
    .usage(
      '$0 <verb>\n\nSends the rows of your files to the service, once each, and accounts for every row; makes single calls too.',
    );
  for (const each of LIST) {
    if (nameOf(each.command) !== args[0]) cli = cli.command(each.command, each.about);
    else if (asked.group !== undefined) cli = addGroup(cli, each, asked.group, run);
    else if (asked.verb !== undefined) cli = addVerb(cli, { ...each, ...asked.verb }, run);
  }
  await cli
    .options(logFlags)
    .strict()
    .help()
    .epilogue(
      'Exit codes: 0 every row accepted · 1 finished, some rows rejected or held · 2 did not start · 3 rows in doubt · ' +
        '4 stopped, a person must look · 75 stopped before the end, run the same command to resume',
    )
    .wrap(Math.min(120, columns))
    .fail((misuse, error) => {
      const said = misuse?.replace(/\s+/g, ' ').replace(/ ([a-z-]{1,30}) -> /g, ' --$1 needs --');
      throw said === undefined ? error : refuse(said.trim());
    })
    .parseAsync(args, {}, (_error, _flags, output) => {
      printed = output;
    });
  if (printed !== '') await terminal.writeStdout(`${printed}\n`);
  return exitCode;
}

/** What the parser says, in the words of all other messages. Two have a form for one and for several, which its types leave out. */
const WORDS = {
  'Arguments %s and %s are mutually exclusive': 'Cannot use --%s together with --%s, expected one of them',
  'Not enough arguments following: %s': 'Cannot use --%s: no value follows it, expected one',
  'Invalid values:': ' ',
  'Argument: %s, Given: %s, Choices: %s': 'Cannot use --%s: it is %s, expected one of %s',
  'Implications failed:': 'A flag is missing:',
  'Missing required argument: %s': { one: 'A flag is missing: --%s', other: 'Flags are missing: %s' },
  'Not enough non-option arguments: got %s, need at least %s': {
    one: 'Something is missing behind the verb: there is %s word, expected %s',
    other: 'Something is missing behind the verb: there are %s words, expected %s',
  },
};

type RunVerb = (name: string, verb: AnyVerb, flags: object) => Promise<void>;

interface Asked {
  /** The command with its arguments. */
  readonly command: string;
  readonly group?: Group;
  readonly verb?: AnyVerb | undefined;
}

async function findAsked([name, ...args]: readonly string[]): Promise<Asked> {
  const listed = LIST.find(({ command }) => nameOf(command) === name);
  if (listed === undefined) return { command: '<verb>' };
  const { command } = listed;
  const loaded = await listed.load();
  if (!('map' in loaded)) return { command, verb: loaded };
  const names = loaded.map((each) => nameOf(each.command));
  const below = loaded[names.indexOf(args.find((arg) => names.includes(arg)) ?? '')];
  return { command: `${command} ${below?.command ?? names.join('|')}`, group: loaded, verb: below };
}

function explainUse({ command, verb }: Asked): string {
  const required = Object.entries(verb?.flags ?? {}).flatMap(([name, flag]) =>
    flag.demandOption ? ` --${name} …` : [],
  );
  const name = `volley ${command}`.replace(/ (?:[<[]|\w+\|).*/, '');
  return `Usage: volley ${command}${required.join('')}; see ${name} --help`;
}

/** `help run` is `run --help`. `help` alone lists the topics: the parser takes a `help` that comes last for its own `--help`. */
function expandHelp(args: readonly string[]): readonly string[] {
  if (args[0] !== 'help') return args;
  const [topic = '-', ...others] = moveVerbFirst(args.slice(1));
  if (VERBS.includes(topic)) return [topic, ...others, '--help'];
  return topic.startsWith('-') ? ['help', 'topics', ...args.slice(1)] : ['help', topic, ...others];
}

/** Takes `--` out of arguments: what stands behind it is no flag, which the parser knows of a path that begins with a dot. */
function endFlags(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--');
  if (at === -1) return args;
  return [...args.slice(0, at), ...args.slice(at + 1).map((arg) => (/^-./.test(arg) ? `./${arg}` : arg))];
}

/** Moves flags that come before the verb behind it: `--log-level warn prune JOB`. */
function moveVerbFirst(args: readonly string[]): readonly string[] {
  const at = args[0]?.startsWith('-') === true ? args.findIndex((arg) => VERBS.includes(arg)) : 0;
  const verb = args[at];
  return verb === undefined ? args : [verb, ...args.slice(0, at), ...args.slice(at + 1)];
}

/** Says what to do about arguments without a verb that there is; undefined where they ask for help or the version, and need none. */
function findMissingVerb(args: readonly string[], { command, group }: Asked): string | undefined {
  const [verb = '-'] = args;
  if (group !== undefined || verb.startsWith('-')) {
    if (args.includes('--help') || args.includes('--version')) return undefined;
    return group === undefined
      ? 'Name a verb, such as run'
      : `Name what to do: ${command.split(' ')[1]?.replaceAll('|', ', ')}`;
  }
  if (/[./]/.test(verb)) return 'A verb is missing before the path, such as run: volley run <job>';
  return `There is no such verb${suggest(verb, VERBS)}`;
}

/** What the parser would take in silence: a flag that there is not, with the job file as its value, and `--dry-run=1` as no dry run. */
function findWrongFlag(args: readonly string[], { flags }: AnyVerb): string | undefined {
  const known: Readonly<Record<string, Flag>> = { ...flags, ...logFlags, help: SWITCH, version: SWITCH };
  for (const arg of args) {
    const [, negation, written, value = 'true'] = /^--(no-)?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (written === undefined) continue;
    const name = written.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const flag = known[name];
    if (flag === undefined && name === 'dry-run')
      return 'There is no --dry-run: volley plan <job> shows what would be sent, and sends nothing';
    if (flag === undefined) return `There is no --${written}${suggest(name, Object.keys(known), '--')}`;
    if (flag.type === 'boolean' && value !== 'true' && value !== 'false')
      return `Cannot use --${negation ?? ''}${written}: it is given as ${JSON.stringify(value)}, expected the flag alone`;
  }
  return undefined;
}

const SWITCH: Flag = { type: 'boolean' };

function suggest(written: string, known: readonly string[], before = ''): string {
  const nearest = suggestNearest(written, known);
  return nearest === undefined ? '' : `. Did you mean ${before}${nearest}?`;
}

/** How stderr is written; misuse of the flags is said in the usual way. Of a flag that is given twice the last one counts: a script may have one already. */
function readLogging(flags: object, { isStderrTerminal }: Terminal): Logging {
  const { logLevel, logFormat }: { logLevel?: LogLevel | LogLevel[]; logFormat?: LogFormat | LogFormat[] } = flags;
  const [level, format] = [[logLevel].flat().at(-1), [logFormat].flat().at(-1)];
  const isAsked = level !== undefined || format !== undefined;
  return { format: format ?? (isStderrTerminal ? 'pretty' : 'json'), level: level ?? 'info', isAsked };
}

/** Sections of NODE_DEBUG that print bytes that Node reads (stream) or URLs that hold codes (undici, fetch). */
const TELLING = ['stream', 'undici', 'fetch'];

/** Node reads NODE_DEBUG before any of our code runs, patterns such as * included: ask Node which sections are on. */
function assertNodeIsSilent(): void {
  const told = TELLING.filter((section) => debuglog(section).enabled);
  if (told.length === 0) return;
  throw new UserError(
    'unsafe-environment',
    `Cannot start: with NODE_DEBUG=${told.join(',')} Node prints phone numbers, keys and codes, expected it without them`,
    { hint: 'Remove them from NODE_DEBUG; http, net, tls and worker print none of these.' },
  );
}

/** What --version prints; the version is the first word. */
function describeProgram(): string {
  const { version, revision, formats } = PROGRAM;
  return `${version} (revision ${revision}; plan format ${formats.plan}, journal ${formats.journal}, memory ${formats.memory})`;
}

/** Adds a verb to a command line. `above`: the verb that it stands below. */
function addVerb(cli: Argv, { command, about, ...verb }: Listed & AnyVerb, run: RunVerb, above = ''): Argv {
  const name = nameOf(`${above}${command}`);
  return cli.command(
    command,
    about,
    (builder) => {
      let built = builder;
      for (const [flag, options] of Object.entries(verb.flags))
        built = built.option(flag, checked(`--${flag}`, options));
      for (const [argument, options] of Object.entries(verb.args))
        built = built.positional(argument, checked(`<${argument}>`, options) as PositionalOptions);
      for (const [given, does] of verb.examples) built = built.example(`$0 ${name} ${given}`.trimEnd(), does);
      return built;
    },
    (read) => run(name, verb, read),
  );
}

function addGroup(cli: Argv, { command: group, about }: Listed, verbs: Group, run: RunVerb) {
  return cli.command(group, about, (builder) => {
    let built = builder;
    for (const below of verbs) {
      const [[given, does] = ['', '']] = below.examples;
      built = addVerb(built, below, run, `${group} `);
      built = built.example(`$0 ${group} ${nameOf(below.command)} ${given}`.trimEnd(), does);
    }
    return built;
  });
}

/** What the parser lets pass: a text that is empty, or is not given (`--no-run`), or of which two are given, and then what the flag cannot read. */
function checked(called: string, { expected, coerce = (given: unknown) => given, ...flag }: Flag): Options {
  if (flag.type !== 'string') return flag;
  const refuse = (what: string) => new Error(`Cannot use ${called}: ${what}`);
  const read = (given: unknown) => {
    const all = [...new Set([given].flat())];
    if (all.includes(false)) throw refuse('it is given without its value, expected one');
    if (all.some((each) => String(each).trim() === '')) throw refuse('it is empty, expected some text');
    if (flag.array === true) return coerce(all);
    if (all.length > 1)
      throw refuse(`${all.map((each) => JSON.stringify(each)).join(' and ')} are given, expected one`);
    const value = coerce(String(all[0]));
    if (value !== undefined) return value;
    throw refuse(`it is ${JSON.stringify(all[0])}, expected ${expected}`);
  };
  return { ...flag, coerce: read };
}
