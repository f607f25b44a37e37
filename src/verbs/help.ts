import { readdir, readFile } from 'node:fs/promises';
import { type Screen, showCommand } from '../command/screen.js';
import { UserError } from '../domain/errors.js';
import { suggestNearest } from '../domain/suggest.js';
import { widthOf, wrapText } from '../domain/text.js';
import { defineVerb } from './verb.js';

/** In the checkout, the package and the image: two directories above both this file and what is built of it. */
const PAGES = new URL('../../jobs/reference/', import.meta.url);

const ALL_TOPICS = 'topics';

/** `volley help [TOPIC]`: a page of the reference as it is written, or the list of them. */
export const help = defineVerb({
  args: { topic: { describe: 'Name of a page, a word of it, or a verb', type: 'string', default: ALL_TOPICS } },
  flags: {},
  examples: [['job-file', 'every key of a job file']],
  isLook: true,
  run: async ({ topic }, { screen }) => {
    const pages = (await readdir(PAGES)).filter((name) => name.endsWith('.md')).toSorted();
    const topics = pages.map((name) => name.replace('.md', ''));
    if (topic === ALL_TOPICS) return { text: await listTopics(topics, screen) };
    const page = await readPage(findTopic(topic, topics, screen));
    return { text: screen.isTerminal ? fitPage(page, screen.columns) : page };
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

/** A terminal would break wide lines anywhere: prose is wrapped between words, and of a table that is too wide each row gets lines of its own. */
function fitPage(page: string, columns: number): string {
  const isWide = (line: string) => widthOf(line) > columns;
  const fit = (line: string) => wrapText(line, columns, ' '.repeat(/^ *(- )?/.exec(line)?.[0].length ?? 0));
  const fitRow = (line: string) => {
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [last = ''] = cells.splice(-1);
    if (/^-+$/.test(last)) return [];
    return [...wrapText(cells.join('  '), columns), ...wrapText(`    ${last}`, columns, '    ')];
  };
  const fitBlock = (block: string) => {
    const lines = block.split('\n');
    if (!lines.some(isWide)) return block;
    return lines.flatMap(lines.every((line) => line.startsWith('|')) ? fitRow : fit).join('\n');
  };
  // Blocks of code stay as they are: every second part, up to the fence that ends it.
  const parts = page.split(/^(?=```)/m);
  return parts.map((part, at) => (at % 2 === 1 ? part : part.split('\n\n').map(fitBlock).join('\n\n'))).join('');
}

function readPage(topic: string): Promise<string> {
  return readFile(new URL(`${topic}.md`, PAGES), 'utf8');
}

/** By its name, or by a word of it that no other has. */
function findTopic(written: string, topics: readonly string[], screen: Screen): string {
  const wanted = written.toLowerCase().replace(/\.md$/, '');
  if (topics.includes(wanted)) return wanted;
  const [byWord, ...others] = topics.filter((topic) => topic.split('-').includes(wanted));
  if (byWord !== undefined && others.length === 0) return byWord;
  const nearest = suggestNearest(wanted, topics) ?? suggestByWord(wanted, topics);
  throw new UserError(
    'bad-flag',
    `Cannot show help on ${JSON.stringify(written)}: there is no such topic, expected one of ${topics.join(', ')}`,
    {
      hint:
        nearest === undefined
          ? `${showCommand(screen, 'help')} says what each has.`
          : `Did you mean ${showCommand(screen, 'help', nearest)}?`,
    },
  );
}

function suggestByWord(wanted: string, topics: readonly string[]): string | undefined {
  const words = topics.flatMap((topic) => topic.split('-'));
  const word = suggestNearest(wanted, words);
  return word === undefined ? undefined : topics.find((topic) => topic.split('-').includes(word));
}
