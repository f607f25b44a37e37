import yargs from 'yargs';
import { formatFailureLine } from '../command/error-line.js';
import { PROGRAM } from '../domain/program.js';
import { suggestNearest } from '../domain/suggest.js';
import { logOptions, readLogging } from './log-flags.js';
import { brief, DRY_RUN, type VerbContext } from './verb.js';
import { addVerbs, VERBS } from './verbs.js';

/** Reads the arguments and runs the command of their verb; help and misuse are answered without any command. */
export async function runCommandLine(given: readonly string[], context: VerbContext, columns: number): Promise<void> {
  context.terminal.logging = readLogging(given, context.terminal);
  const args = moveVerbFirst(given);
  const leave = (message: string, hint: string): void => {
    context.terminal.writeStderr(formatFailureLine({ message, exitCode: 2, code: 'bad-flag', hint }, context.terminal));
    context.terminal.leave(2, { code: 'bad-flag', message, hint });
  };
  const misuse = findMisuse(args);
  if (misuse !== undefined) return leave(misuse, 'Usage: volley <verb>; see volley --help');
  const words = expandHelp(args);
  const cli = yargs([...words])
    .scriptName('volley')
    .version(describeProgram())
    // In one language: as the rest of what is printed.
    .detectLocale(false)
    // An option that is given twice counts as it was given last, save where its verb says otherwise.
    .parserConfiguration({ 'duplicate-arguments-array': false, 'dot-notation': false })
    .usage(
      '$0 <verb>\n\nSends the rows of your files to the service, once each, and accounts for every row; makes single calls too.',
    );
  const verbs = await addVerbs(brief(cli, '<verb>', context.terminal), context, (name) => name === words[0]);
  await verbs
    .options(logOptions)
    .middleware((parsed) => {
      const [flag, given] = findFlagWithValue(args, parsed) ?? [];
      if (flag !== undefined)
        leave(
          `Cannot use ${flag}: it is given as ${JSON.stringify(given)}, expected the flag alone`,
          `Give ${flag} without a value; nothing was done.`,
        );
    }, true)
    .demandCommand(1, 'Name a verb, such as run.')
    .strict()
    .help()
    .epilogue(
      'Exit codes: 0 every row accepted · 1 finished, some rows rejected · 2 did not start · 3 rows in doubt · ' +
        '4 stopped, a person must look · 75 stopped before the end, run the same command to resume',
    )
    .wrap(Math.min(120, columns))
    .parseAsync();
}

/** `help run` is `run --help`. `help` alone lists the topics: the parser takes a `help` that comes last for its own `--help`. */
export function expandHelp(args: readonly string[]): readonly string[] {
  if (args[0] !== 'help') return args;
  const [topic = '-', ...others] = moveVerbFirst(args.slice(1));
  if (VERBS.includes(topic)) return [topic, ...others, '--help'];
  return topic.startsWith('-') ? ['help', 'topics', ...args.slice(1)] : ['help', topic, ...others];
}

/** Flags that take no value, of those that may come before a verb. */
const WITHOUT_VALUE = /^(-\w|--(no-.+|json|help|version|adopt|again|wait|html|dry-?run))$/i;

/**
 * The same arguments, with those behind the flags that come before the verb: `--log-level warn prune JOB`. What follows a flag is its
 * value, unless it takes none, or only the verb can be meant.
 */
export function moveVerbFirst(args: readonly string[]): readonly string[] {
  let at = 0;
  for (; args[at]?.startsWith('-') === true; at += 1) {
    const flag = args[at] ?? '';
    if (flag === '--') return args;
    const isVerbNext = VERBS.includes(args[at + 1] ?? '') && !flag.startsWith('--log-');
    if (!flag.includes('=') && !WITHOUT_VALUE.test(flag) && !isVerbNext) at += 1;
  }
  const verb = args[at];
  return verb === undefined ? args : [verb, ...args.slice(0, at), ...args.slice(at + 1)];
}

/** A flag that takes no value, with another than true or false: the parser reads any as false, and `--dry-run=1` would delete. */
function findFlagWithValue(
  args: readonly string[],
  parsed: Readonly<Record<string, unknown>>,
): readonly [flag: string, value: string] | undefined {
  for (const arg of args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)) {
    const [, name = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(arg) ?? [];
    if (typeof parsed[name] === 'boolean' && value !== 'true' && value !== 'false') return [`--${name}`, value];
  }
  return undefined;
}

/** What people who know other tools look for. */
const MISSED: Readonly<Record<string, string>> = {
  clean:
    'There is no volley clean: volley prune <job> deletes the rows of old runs, and keeps the record of what was sent',
  send: 'There is no volley send: volley run <job> plans and sends',
  validate: 'There is no volley validate: volley check <job> checks the job file, volley plan <job> its rows too',
};

/** Of arguments whose verb comes first: a verb that there is not, or a flag that would take the job file for its value. */
export function findMisuse(args: readonly string[]): string | undefined {
  const [verb = '-'] = args;
  if (!['abandon', 'prune'].includes(verb) && args.some((arg) => /^--dry-?run(=|$)/i.test(arg))) return DRY_RUN;
  if (verb.startsWith('-') || VERBS.includes(verb)) return undefined;
  if (Object.hasOwn(MISSED, verb)) return MISSED[verb];
  if (/[./]/.test(verb)) return 'A verb is missing before the path, such as run: volley run <job>';
  const nearest = suggestNearest(verb, VERBS);
  return `There is no such verb.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
}

/** What --version prints; the version is the first word. */
export function describeProgram(): string {
  const { version, revision, formats } = PROGRAM;
  return `${version} (revision ${revision}; plan format ${formats.plan}, packed ${formats.packed}, journal ${formats.journal}, registry ${formats.registry})`;
}
