import { readdir, readFile } from 'node:fs/promises';
import { type Screen, showCommand } from '../command/screen.js';
import { UserError } from '../domain/errors.js';
import { wrapText } from '../domain/text.js';
import { defineVerb } from './verb.js';

/** In the checkout, the package and the image: two directories above both this file and what is built of it. */
const PAGES = new URL('../../jobs/reference/', import.meta.url);

const ALL_TOPICS = 'topics';

/** `volley help [TOPIC]`: a page of the reference as it is written, or the list of them. */
export const help = defineVerb({
  args: { topic: { describe: 'Name of a page, words of it, or a verb', type: 'string', default: ALL_TOPICS } },
  flags: {},
  examples: [['job-file', 'every key of a job file']],
  isLook: true,
  run: async ({ topic }, { screen }) => {
    const pages = (await readdir(PAGES)).filter((name) => name.endsWith('.md')).toSorted();
    const topics = pages.map((name) => name.replace('.md', ''));
    if (topic === ALL_TOPICS) return { text: await listTopics(topics, screen) };
    return { text: await readPage(findTopic(topic, topics, screen)) };
  },
});

async function listTopics(topics: readonly string[], screen: Screen): Promise<string> {
  const width = Math.max(...topics.map((topic) => topic.length));
  const pages = await Promise.all(topics.map(readPage));
  const lines = topics.flatMap((topic, at) => {
    // The paragraph below the title, without its stop.
    const [, about = ''] = pages[at]?.split('\n\n') ?? [];
    const said = about.replaceAll('\n', ' ').replace(/\.$/, '');
    return wrapText(`  ${topic.padEnd(width)}  ${said}`, screen.columns, ' '.repeat(width + 4));
  });
  const [example = ''] = topics;
  const next = `${showCommand(screen, 'help', example)} prints a page, ${showCommand(screen, '--help')} lists the commands.`;
  return ['Topics:', ...lines, '', ...wrapText(next, screen.columns)].map((line) => `${line}\n`).join('');
}

function readPage(topic: string): Promise<string> {
  return readFile(new URL(`${topic}.md`, PAGES), 'utf8');
}

/** Finds a topic by its name, or by words of it that no other has. */
function findTopic(written: string, topics: readonly string[], screen: Screen): string {
  const wanted = written.toLowerCase().replace(/\.md$/, '');
  if (topics.includes(wanted)) return wanted;
  const [byWord, ...others] = topics.filter((topic) => `-${topic}-`.includes(`-${wanted}-`));
  if (byWord !== undefined && others.length === 0) return byWord;
  throw new UserError(
    'bad-flag',
    `Cannot show help on ${JSON.stringify(written)}: there is no such topic, expected one of ${topics.join(', ')}`,
    { hint: `${showCommand(screen, 'help')} says what each has.` },
  );
}
