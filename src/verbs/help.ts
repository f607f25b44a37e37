import { type AddVerbs, brief } from './verb.js';

/** `volley help [TOPIC]` */
export const addHelpVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'help [topic]',
    'Print a page of the reference, or list the pages',
    (command) =>
      brief(command, 'help [topic]', terminal)
        .positional('topic', { describe: 'Name of a page, a word of it, or a verb', type: 'string' })
        .example('$0 help job-file', 'every key of a job file'),
    ({ topic }) =>
      finish(
        import('../commands/print-help.js').then(({ printHelp }) =>
          printHelp({ topic: topic === ALL_TOPICS ? undefined : topic }, terminal),
        ),
      ),
  );

/** In the place of no topic: the parser takes a `help` that is the last argument for its own `--help`. */
const ALL_TOPICS = 'topics';

/** `help` alone lists the topics; `help run` is `run --help`. */
export function rewriteHelp(args: readonly string[], verbs: readonly string[]): readonly string[] {
  const [verb, topic = '-', ...others] = args[0] === 'help' ? ['help', ...moveVerbFirst(args.slice(1), verbs)] : args;
  if (verb !== 'help') return args;
  if (topic.startsWith('-')) return ['help', ALL_TOPICS, ...args.slice(1)];
  return verbs.includes(topic) ? [topic, ...others, '--help'] : ['help', topic, ...others];
}

/** Flags that take no value, of those that may come before a verb. */
const WITHOUT_VALUE = /^(-\w|--(no-.+|json|help|version|adopt|again|wait|html|dry-?run))$/i;

/**
 * The same arguments, with those behind the flags that come before the verb: `--log-level warn prune JOB`. What follows a flag is its
 * value, unless it takes none, or only the verb can be meant.
 */
export function moveVerbFirst(args: readonly string[], verbs: readonly string[]): readonly string[] {
  let at = 0;
  for (; args[at]?.startsWith('-') === true; at += 1) {
    const flag = args[at] ?? '';
    if (flag === '--') return args;
    const isVerbNext = verbs.includes(args[at + 1] ?? '') && !flag.startsWith('--log-');
    if (!flag.includes('=') && !WITHOUT_VALUE.test(flag) && !isVerbNext) at += 1;
  }
  const verb = args[at];
  return verb === undefined ? args : [verb, ...args.slice(0, at), ...args.slice(at + 1)];
}
