import { expect, test } from 'vitest';
import { runVerb } from '../../src/command/runner.js';
import { help } from '../../src/verbs/help.js';
import { aTerminal } from '../command/a-terminal.js';
import { REFERENCE_PAGES, readPage } from '../pages/page.js';

/** What is printed. */
async function say(topic = 'topics'): Promise<string> {
  const { terminal, said } = aTerminal({ env: { NO_COLOR: '1' } });
  await runVerb('help', help, { topic }, { ...terminal, screen: { columns: 80 } });
  return said.stdout;
}

test('without a topic every page is listed, with a line that says what it has', async () => {
  const listed = [...(await say()).matchAll(/^ {2}([\w-]+) {2,}\S/gm)].map(([, topic]) => topic);
  expect(listed).toEqual(REFERENCE_PAGES.map((path) => path.replace(/.*\/|\.md/g, '')));
});

test.each(REFERENCE_PAGES)('%s is printed as it is written', async (path) => {
  const topic = path.replace(/.*\/|\.md/g, '');
  expect(await say(topic)).toBe(readPage(path).text);
});

test.each([
  ['templates', 'numbers-and-templates'],
  ['LIMITS', 'limits-and-answers'],
  ['input.md', 'input'],
])('%s shows %s', async (written, topic) => {
  expect(await say(written)).toBe(readPage(`jobs/reference/${topic}.md`).text);
});

test.each(['imput', '../README', 'zzzzzz'])('%s is no topic: the topics are named, and what to do', async (written) => {
  const error = await say(written).catch((thrown) => thrown);

  expect(error).toMatchObject({ name: 'UserError', code: 'bad-flag', hint: 'volley help says what each has.' });
  expect(error.message).toContain('expected one of cluster, commands, console, events');
});
