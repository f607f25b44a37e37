import { expect, test } from 'vitest';
import { decodeLine } from '../../src/journal/entry-format.js';
import { decodeEventLine } from '../../src/listen/event-file.js';
import { decodeRequestLine } from '../../src/plan/format/plan-file.js';
import { readPage } from './page.js';

const lines = readPage('src/README.md')
  .blocks.filter(({ language }) => language === 'json')
  .map(({ text }) => text.trimEnd());

test('the example lines of src/README.md are lines that Volley reads', () => {
  const [request = '', row = '', entry = '', event = ''] = lines;

  expect(decodeRequestLine(Buffer.from(request), 'src/README.md')).toMatchObject({ request: 1, rows: 1 });
  expect(JSON.parse(row)).toMatchObject(['p', 0, 2, 1, expect.any(Array), expect.any(Array)]);
  expect(decodeLine(Buffer.from(entry))).toMatchObject({ entry: { type: 'intent' } });
  expect(decodeEventLine(event)).toMatchObject({ kind: 'receipt' });
});
