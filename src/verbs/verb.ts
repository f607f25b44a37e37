import type { Argv, InferredOptionTypes, Options, PositionalOptions } from 'yargs';
import { formatFailureLine } from '../command/error-line.js';
import type { Verb } from '../command/runner.js';
import type { Terminal } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';

/** What a verb needs to run its command; a command is imported when its verb is asked for, so that `--help` loads none. */
export interface VerbContext {
  readonly terminal: Terminal;
  /** Runs a command; its number is the exit code, and so is that of what it throws. */
  finish(command: Promise<number>): Promise<void>;
}

/** As a verb reads them: `--keep-last` is `keepLast`. */
type Read<O extends Record<string, Options>> = {
  readonly [Name in keyof O & string as CamelCase<Name>]: InferredOptionTypes<O>[Name];
};

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** Infers the types of what a verb is given. */
export function defineVerb<A extends Record<string, PositionalOptions>, O extends Record<string, Options>>(
  verb: Verb<Read<A & O>> & { readonly args: A; readonly flags: O },
): Verb<Read<A & O>> {
  return verb;
}

/** A verb as the help lists it. */
export interface Listed {
  /** Name and arguments: `prune <job>`. */
  readonly command: string;
  readonly about: string;
}

/** A verb with verbs below it, such as `chat read` and `chat post`. */
export interface Group {
  // biome-ignore lint/suspicious/noExplicitAny: each verb has flags of its own
  readonly verbs: readonly (Listed & { readonly verb: Verb<any> })[];
}

/** Adds a group to a command line; its help has the first example of each of its verbs. */
export function addGroup(cli: Argv, { command: group, about }: Listed, { verbs }: Group, context: VerbContext): Argv {
  const names = verbs.map(({ command }) => nameOf(command));
  return cli.command(group, about, (builder) => {
    let built = brief(builder, `${group} ${names.join('|')}`, context.terminal);
    for (const { command, about, verb } of verbs) {
      const name = `${group} ${command}`;
      const [[given, does] = ['', '']] = verb.examples;
      built = addVerb(built, { command: name, about }, verb, context, command);
      built = built.example(`$0 ${nameOf(name)} ${given}`.trimEnd(), does);
    }
    return built.demandCommand(1, `Name what to do: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`);
  });
}

/** Adds a verb to a command line: its help, and what runs it. `typed`: what follows the verbs above it. */
export function addVerb<F>(
  cli: Argv,
  { command, about }: Listed,
  verb: Verb<F>,
  { terminal, finish }: VerbContext,
  typed = command,
): Argv {
  const name = nameOf(command);
  const usage = verb.needs === undefined ? command : `${command} ${verb.needs}`;
  return cli.command(
    typed,
    about,
    (builder) => {
      let built = brief(builder, usage, terminal, verb.notTaken).options(verb.flags);
      if (verb.keepsEach === true) built = built.parserConfiguration(KEEP_EACH);
      for (const [argument, options] of Object.entries(verb.args)) built = built.positional(argument, options);
      for (const [given, does] of verb.examples) built = built.example(`$0 ${name} ${given}`.trimEnd(), does);
      return built;
    },
    // Of what the parser has read, `defineVerb` has inferred the types. Help needs no runner.
    (read) =>
      finish(
        import('../command/runner.js').then(({ runVerb }) =>
          runVerb(name, verb, read as unknown as F & object, terminal),
        ),
      ),
  );
}

/** A command without its arguments. */
export function nameOf(command: string): string {
  return command.replace(/ [<[].*/, '');
}

export const json = {
  describe: 'Print JSON on stdout (default: when stdout is not a terminal); --no-json prints plain text',
  type: 'boolean',
} as const;

export const theRun = textArgument('A run directory, as plan and run print it');
export const namedRun = textArgument(
  'A run directory, as plan and run print it; or a job file, or its directory in the output: its newest run',
);

/** Of verbs that send, or that decide what is sent. */
export const adopt = {
  describe:
    "Use the job's directory from now on though it was copied, restored from a backup, or cut; recorded with your name",
  type: 'boolean',
  default: false,
} as const;

/** Of verbs that plan or send. */
export const again = {
  describe: 'Send files again that the job has already sent',
  type: 'boolean',
  default: false,
} as const;
export const ignoreOpenDoubt = {
  describe: 'Rows that earlier runs of the job left in doubt do not count for the exit code this time',
  type: 'boolean',
  default: false,
} as const;

export const wait = {
  describe: 'Wait for `notBefore` of the job, then send; without it, the command ends with 75 before that time',
  type: 'boolean',
  default: false,
} as const;

/** Of verbs that make a single call. */
export const single = {
  job: {
    ...textOption('A job file: its service section names the account and the credentials; its steps are not run'),
    demandOption: true,
  },
  json,
} as const;

/**
 * The builder of a verb, or of the whole command, whose misuse is reported briefly: what is wrong, how it is used
 * (`usage`, such as "run <job>"), and where its help is. Ends the command with exit code 2. `notTaken`: of a verb
 * without a path, what a person may give it all the same, and what it does instead.
 */
export function brief<T>(command: Argv<T>, usage: string, terminal: Terminal, notTaken = 'path'): Argv<T> {
  const whole = `volley ${usage}`;
  const named = whole.replace(/ (?:[<[]|--|\w+\|).*/, '');
  const noPath = /[<[]/.test(usage) ? undefined : `${named} takes no ${notTaken}`;
  return command.fail((message, error) => {
    // The parser throws some misuse itself, such as a flag without its value.
    if (error && error.name !== 'YError') throw error;
    const misuse = describeMisuse(message, { noPath, unknown: listUnknown(command) });
    const hint = `Usage: ${whole}; see ${named} --help`;
    terminal.writeStderr(formatFailureLine({ message: misuse, exitCode: 2, code: 'bad-flag', hint }, terminal));
    terminal.leave(2, { code: 'bad-flag', message: misuse, hint });
  });
}

/** What a person who asks for a dry run looks for. */
export const DRY_RUN = 'There is no --dry-run: volley plan <job> shows what would be sent, and sends nothing';

/** The parser's words; those that count arguments, or call a verb one, in our own. */
function describeMisuse(
  message: string,
  { noPath, unknown: flags }: { noPath: string | undefined; unknown: readonly string[] },
): string {
  const [flagThatIsNot] = flags;
  const isMissing = /^(Not enough non-option arguments|Missing required argument)/.test(message);
  // It took the next argument for its value.
  if (isMissing && flagThatIsNot !== undefined) return `There is no --${flagThatIsNot}`;
  const required = /^Missing required arguments?: (.+)$/.exec(message);
  if (required !== null) return `Missing: ${(required[1] ?? '').replace(/[\w-]+/g, '--$&')}`;
  const count = /^Not enough non-option arguments: got (\d+), need at least (\d+)$/.exec(message);
  if (count !== null) return `An argument is missing: ${count[1]} given, expected ${count[2]}`;
  const flag = /^Not enough arguments following: (.+)$/.exec(message);
  if (flag !== null) return `--${flag[1]} is given without its value`;
  if (/^Unknown arguments?: .*\bdry-?run\b/i.test(message)) return DRY_RUN;
  const [, unknown = ''] = /^Unknown arguments?: (\S+)$/.exec(message) ?? [];
  if (/[./]/.test(unknown) && noPath !== undefined) return `${unknown} is given, and ${noPath}`;
  if (/[./]/.test(unknown))
    return `One path is expected, and ${unknown} is a second one; run the command once for each`;
  return message.replace(/^Unknown arguments?: /, 'Unknown: ').replace(/^(?=Did you mean )/, 'There is no such verb. ');
}

/** Flags that were given, and that the verb does not have. What the parser knows of both, its types do not tell. */
function listUnknown(command: unknown): readonly string[] {
  const parser = command as { parsed: false | { argv: object }; getOptions: () => { key: object } };
  if (parser.parsed === false) return [];
  // The parser adds each name without its dashes.
  const plain = (name: string) => name.replaceAll('-', '').toLowerCase();
  const known = new Set(['_', '$0', ...Object.keys(parser.getOptions().key)].map(plain));
  return Object.keys(parser.parsed.argv).filter((key) => !known.has(plain(key)));
}

/** The number that a flag was given; refuses what is none as it was typed. */
export function readPort(text: string, flag = 'port'): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UserError(
    'bad-flag',
    `Cannot listen: --${flag} is ${JSON.stringify(text)}, expected a number from 0 to 65535`,
  );
}

/** An option that takes a text. */
export function textOption(describe: string): { describe: string; type: 'string'; requiresArg: true } {
  return { describe, type: 'string', requiresArg: true };
}

/** A positional argument that is a text, and must be given. */
export function textArgument(describe: string): { describe: string; type: 'string'; demandOption: true } {
  return { describe, type: 'string', demandOption: true };
}

/** A text option that was given several times is a list of them: which is meant decides whether people get a message twice. */
export const KEEP_EACH = { 'duplicate-arguments-array': true };

/** The values of a text option; undefined without any. Of lists, and of `--no-…`, the parser's types do not tell. */
export function takeAll(name: string, given: unknown): readonly string[] | undefined {
  if (given === undefined) return undefined;
  return [given].flat().map((value) => {
    if (typeof value === 'string') return value;
    throw new UserError('bad-flag', `Cannot read --${name}: it is given without its value, expected one`);
  });
}

/** The one value of an option. */
export function takeOne(name: string, given: unknown): string | undefined {
  const [value, ...others] = new Set(takeAll(name, given));
  if (others.length === 0) return value;
  const all = [value, ...others].map((each) => JSON.stringify(each)).join(' and ');
  throw new UserError('bad-flag', `Cannot use --${name}: ${all} are given, expected one`);
}

/** Of verbs that listen. */
export const port = (otherwise: string) => ({ ...textOption('0 takes any free port'), default: otherwise });
export const host = {
  describe: 'Address to listen on',
  type: 'string',
  default: '127.0.0.1',
  requiresArg: true,
} as const;
