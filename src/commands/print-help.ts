import { readdir, readFile } from 'node:fs/promises';
import { renderPage } from '../command/render-page.js';
import { type Screen, screenOf, showCommand } from '../command/screen.js';
import type { Terminal } from '../command/terminal.js';
import { wrapText } from '../command/text-width.js';
import { UserError } from '../domain/errors.js';
import { suggestNearest } from '../domain/suggest.js';

/** In the checkout, the package and the image: two directories above both this file and what is built of it. */
const PAGES = new URL('../../jobs/reference/', import.meta.url);

/** `volley help [topic]`: a page of the reference; without a topic the list of them. Into a pipe a page goes as it is written. */
export async function printHelp({ topic }: { topic: string | undefined }, terminal: Terminal): Promise<number> {
  const names = await readdir(PAGES);
  const topics = names.filter((name) => name.endsWith('.md')).map((name) => name.replace('.md', ''));
  const screen = screenOf(terminal);
  await terminal.writeStdout(
    topic === undefined
      ? await listTopics(topics.toSorted(), screen)
      : await showTopic(findTopic(topic, topics.toSorted(), screen), terminal),
  );
  return 0;
}

async function showTopic(topic: string, terminal: Terminal): Promise<string> {
  const page = await readPage(topic);
  return terminal.isStdoutTerminal ? renderPage(page, screenOf(terminal)) : page;
}

async function listTopics(topics: readonly string[], screen: Screen): Promise<string> {
  const width = Math.max(...topics.map((topic) => topic.length));
  const lines = await Promise.all(
    topics.map(async (topic) =>
      wrapText(`  ${topic.padEnd(width)}  ${sayWhatFor(await readPage(topic))}`, screen.columns, ' '.repeat(width + 4)),
    ),
  );
  const [example = ''] = topics;
  const next = `${showCommand(screen, 'help', example)} prints a page, ${showCommand(screen, '--help')} lists the commands.`;
  return ['Topics:', ...lines.flat(), '', ...wrapText(next, screen.columns)].map((line) => `${line}\n`).join('');
}

/** The paragraph below the title, without its stop. */
function sayWhatFor(page: string): string {
  const [, paragraph = ''] = page.split('\n\n');
  return paragraph.replaceAll('\n', ' ').replace(/\.$/, '');
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
  const word = suggestNearest(
    wanted,
    topics.flatMap((topic) => topic.split('-')),
  );
  return word === undefined ? undefined : topics.find((topic) => topic.split('-').includes(word));
}
