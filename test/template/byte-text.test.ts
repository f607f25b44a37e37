import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ByteCells } from '../../src/domain/bytes/row-block.js';
import { RowWriter } from '../../src/domain/bytes/row-writer.js';
import { TextBuffer } from '../../src/domain/bytes/text-buffer.js';
import { findColumn } from '../../src/input/own-columns.js';
import { checkText } from '../../src/template/check-text.js';
import { parseTemplate } from '../../src/template/parse.js';
import { runsOf } from '../one-in.js';

const COLUMNS = ['name', 'note'];

function bind(template: string) {
  const bound = parseTemplate(template).bind(COLUMNS, findColumn);
  if ('problems' in bound) throw new Error('a column is not there');
  return bound;
}

/** Of GSM-7, what JSON escapes among it; and what is not in it, or shows nothing. */
const GSM = ['a', 'B', '7', ' ', '"', '\\', '\n', 'é', '€', '['];
const OTHER = ['\u200b', '\t', 'ã', '漢', '👩', '\ud83d'];
const of = (units: readonly string[], maxLength: number) => fc.string({ unit: fc.constantFrom(...units), maxLength });
const words = fc.oneof(
  { weight: 4, arbitrary: of(GSM, 6) },
  of([...GSM, ...OTHER], 6),
  fc.string({ unit: fc.constantFrom('a', 'b', '€', 'ã'), minLength: 60, maxLength: 90 }),
);
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('{{ name }}', '{{ note }}', '{{ note | default: "-" }}') },
  { weight: 3, arbitrary: of(['x', ' ', '"', '\\', '\n', 'é', '€'], 6) },
  fc.constantFrom('text '.repeat(15), 'ã', '—'),
);
const template = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));

/** The cells as a row of a block, not the first one. */
function asRow(cells: readonly string[]): ByteCells {
  const writer = new RowWriter(COLUMNS.length);
  for (const row of [['first', '"'], cells]) writer.add({ cells: row, line: 1, fault: undefined });
  const row = writer.cells;
  row.row = 1;
  return row;
}

it('a text of bytes is what rendering, checking and JSON make of the cells', () => {
  const counted = { gsm7: 0, ucs2: 0, parts: 0 };
  fc.assert(
    fc.property(template, fc.array(words, { minLength: 1, maxLength: 2 }), (text, cells) => {
      const { byBytes, render } = bind(text);
      const row = asRow(cells);
      const count = byBytes?.count(row);
      if (byBytes === undefined || count === undefined) return;
      counted[count.ucs2Characters === undefined ? 'gsm7' : 'ucs2'] += 1;
      if (count.segments > 1) counted.parts += 1;
      const rendering = render(cells);
      if (!rendering.ok) throw new Error('a text that cannot be rendered was counted');
      const encodings = count.ucs2Characters === undefined ? (['AUTO', 'GSM7'] as const) : (['AUTO'] as const);
      for (const encoding of encodings) expect(checkText(rendering.text, encoding)).toMatchObject({ ok: true, count });
      const written = new TextBuffer();
      byBytes.write(row, written);
      expect(written.bytes.toString('utf8')).toBe(JSON.stringify(rendering.text));
    }),
    { numRuns: runsOf(3000) },
  );
  expect(Math.min(counted.gsm7, counted.ucs2)).toBeGreaterThan(15);
  expect(counted.parts).toBeGreaterThan(5);
});

it.each([
  ['Hi {{ name }}', ['Ann'], 1],
  ['Hi {{ name }}', ['a'.repeat(157)], 1],
  ['Hi {{ name }}', ['a'.repeat(158)], undefined],
  ['Hi {{ name }}', ['€'.repeat(79)], undefined],
  ['Hi {{ name }}', ['João'], 1],
  ['{{ name }}', ['ã'.repeat(70)], 1],
  ['{{ name }}', ['漢'.repeat(71)], 2],
  ['{{ name }}', ['ã'.repeat(670)], 10],
  ['{{ name }}', ['ã'.repeat(671)], undefined],
  ['“{{ name }}”', ['Ann'], 1],
  ['Hi {{ name }}', ['👩'], undefined],
  ['Hi {{ name }}', ['a\u0001'], undefined],
  ['Hi {{ name }}', [' \u200b'], undefined],
  ['Hi {{ name }}', ['\u200b'], undefined],
  ['Hi {{ name }}', ['\u3000\u3000'], undefined],
  ['Hi {{ name }}', ['\u3000a'], undefined],
  ['{{ name }}{{ note | default: "-" }}', ['Ann', ''], 1],
  ['{{ note | default: "-" }}', ['Ann', ''], undefined],
  ['{{ note | default: "-" }}', ['Ann', ' '], undefined],
  ['{{ note }}', ['Ann'], undefined],
])('of %s and %j it counts the parts, where it can', (text, cells, segments) => {
  expect(bind(text).byBytes?.count(asRow(cells))?.segments).toBe(segments);
});

it.each(['No variables', '👩 {{ name }}', '{{ name }}{{ note | default: "👩" }}', '{{ name | upcase }}'])(
  'there is none of %s',
  (text) => {
    expect(bind(text).byBytes?.count(asRow(['Ann', 'Bea']))).toBeUndefined();
  },
);
