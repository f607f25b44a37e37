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
  const [verb, topic = '-', ...others] = args;
  if (verb !== 'help') return args;
  if (topic.startsWith('-')) return ['help', ALL_TOPICS, ...args.slice(1)];
  return verbs.includes(topic) ? [topic, ...others, '--help'] : args;
}
