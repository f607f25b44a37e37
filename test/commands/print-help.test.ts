import { expect, test } from 'vitest';
import { printHelp } from '../../src/commands/print-help.js';
import { aTerminal } from '../command/a-terminal.js';
import { REFERENCE_PAGES, readPage } from '../pages/page.js';

/** What is printed, on a terminal of so many columns, or into a pipe. */
async function say(topic: string | undefined, columns?: number): Promise<string> {
  const { terminal, said } = aTerminal({ env: { NO_COLOR: '1' }, isStdoutTerminal: columns !== undefined });
  await printHelp({ topic }, columns === undefined ? terminal : { ...terminal, screen: { columns } });
  return said.stdout;
}

test('without a topic every page is listed, with a line that says what it has', async () => {
  const listed = [...(await say(undefined, 120)).matchAll(/^ {2}([\w-]+) {2,}\S/gm)].map(([, topic]) => topic);

  expect(listed).toEqual(REFERENCE_PAGES.map((path) => path.replace(/.*\/|\.md/g, '')));
});

test.each(REFERENCE_PAGES)('%s goes into a pipe as it is written', async (path) => {
  const topic = path.replace(/.*\/|\.md/g, '');

  expect(await say(topic)).toBe(readPage(path).text);
});

test.each(REFERENCE_PAGES)('%s keeps every word on a terminal', async (path) => {
  const text = await say(path.replace(/.*\/|\.md/g, ''), 80);

  const lacking = listWords(readPage(path).text).filter((word) => !text.includes(word));
  expect(lacking).toEqual([]);
});

test.each([
  ['templates', 'numbers-and-templates'],
  ['LIMITS', 'limits-and-answers'],
  ['input.md', 'input'],
])('%s shows %s', async (written, topic) => {
  expect(await say(written)).toBe(readPage(`jobs/reference/${topic}.md`).text);
});

test.each([
  ['imput', 'Did you mean volley help input?'],
  ['templats', 'Did you mean volley help numbers-and-templates?'],
  ['../README', 'volley help says what each has.'],
  ['zzzzzz', 'volley help says what each has.'],
])('%s is no topic: the topics are named, and what to do', async (written, hint) => {
  const error = await say(written).catch((thrown) => thrown);

  expect(error).toMatchObject({ name: 'UserError', code: 'bad-flag', hint });
  expect(error.message).toContain('expected one of cluster, commands, events');
});

/** Of paragraphs and tables; marks of Markdown aside. */
function listWords(text: string): string[] {
  const plain = text.replace(/\]\([^)]*\)/g, ' ').replace(/^\|[-|]+\|$|^ *```\w*$/gm, '');
  return plain
    .replaceAll('\\|', ' ')
    .split(/[\s|[\]*#]+/)
    .filter((word) => /\w/.test(word));
}
