import { expect, test } from 'vitest';
import { renderPage } from '../../src/command/render-page.js';
import { PLAIN_SCREEN, type Screen } from '../../src/command/screen.js';

const screen: Screen = { ...PLAIN_SCREEN, columns: 40 };
const show = (...lines: string[]) => renderPage(lines.join('\n'), screen).split('\n');

test('a paragraph is wrapped anew, and ends with a line break', () => {
  expect(show('One two three', 'four five six seven eight nine ten.')).toEqual([
    'One two three four five six seven eight',
    'nine ten.',
    '',
  ]);
});

test('items of a list stay apart, and what continues them is indented', () => {
  expect(show('- one two three four five six', '  seven eight', '- nine', '', '1. ten')).toEqual([
    '- one two three four five six seven',
    '  eight',
    '- nine',
    '',
    '1. ten',
    '',
  ]);
});

test('bold words, which mark what is required, keep their marks where there is no colour to show them', () => {
  const hasColor = { ...screen, hasColor: true };

  expect(renderPage('## Title\n\na **b** c', hasColor)).toBe('\u001b[1mTitle\u001b[22m\n\na \u001b[1mb\u001b[22m c\n');
  expect(show('## Title', '', 'a **b** c')).toEqual(['Title', '', 'a **b** c', '']);
});

test('a link to another page says how to show it; of any other the words stay', () => {
  expect(show('See [limits](limits-and-answers.md#limits).')).toEqual([
    'See limits (volley help',
    'limits-and-answers).',
    '',
  ]);
  expect(show('See [README.md](../../README.md).')).toEqual(['See README.md.', '']);
});

test('code stays as it is written, blank lines in it too', () => {
  expect(show('```sh', 'volley run a', '', '# not a heading', '```')).toEqual([
    '    volley run a',
    '',
    '    # not a heading',
    '',
  ]);
});

test('names of rows are bold only where they are written so', () => {
  const text = renderPage(`| key | meaning |\n|---|---|\n| **\`a\`** | ${'word '.repeat(12)}|\n| \`b\` | word |`, {
    ...screen,
    hasColor: true,
  });

  expect(text).toContain('  \u001b[1m`a`\u001b[22m\n');
  expect(text).toContain('  `b`\n');
});

test('a table that fits is shown in columns', () => {
  expect(show('| a | b |', '|---|---|', '| `\\|` | 2 |', '| 333 | |')).toEqual(['a    b', '`|`  2', '333', '']);
});

test('a table without room is shown row by row, with the names of its columns', () => {
  const text = 'word '.repeat(12).trim();

  expect(show('| key | default | meaning |', '|---|---|---|', `| one | 1 | ${text} |`, '| two | | short |')).toEqual([
    'key · default · meaning',
    '  one',
    '    default: 1',
    '    word word word word word word word',
    '    word word word word word',
    '  two',
    '    short',
    '',
  ]);
});
