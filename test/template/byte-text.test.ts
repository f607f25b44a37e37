import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextBuffer } from '../../src/domain/bytes/text-buffer.js';
import { Columns } from '../../src/normalize/columns.js';
import { checkText } from '../../src/template/check-text.js';
import { parseTemplate } from '../../src/template/parse.js';
import { aByteRow } from '../kinds/a-row.js';
import { runsOf } from '../one-in.js';

const COLUMNS = ['name', 'note'];

function bind(template: string) {
  return parseTemplate(template).bind(new Columns(COLUMNS));
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

it('a text of bytes is what rendering, checking and JSON make of the cells', () => {
  let written = 0;
  fc.assert(
    fc.property(template, fc.array(words, { minLength: 1, maxLength: 2 }), (text, cells) => {
      const { byBytes, render } = bind(text);
      const row = aByteRow(cells);
      if (byBytes?.isOnePart(row) !== true) return;
      written += 1;
      const rendering = render(cells);
      if (!rendering.ok) throw new Error('a text that cannot be rendered was counted');
      const count = { segments: 1, extraParts: 0, ucs2Characters: undefined };
      expect(checkText(rendering.text, 'GSM7')).toMatchObject({ ok: true, count });
      const json = new TextBuffer();
      byBytes.write(row, json);
      expect(json.bytes.toString('utf8')).toBe(JSON.stringify(rendering.text));
    }),
    { numRuns: runsOf(3000) },
  );
  expect(written).toBeGreaterThan(15);
});

it.each([
  ['Hi {{ name }}', ['Ann'], true],
  ['Hi {{ name }}', ['a'.repeat(157)], true],
  ['Hi {{ name }}', ['a'.repeat(158)], false],
  ['Hi {{ name }}', ['€'.repeat(78)], true],
  ['Hi {{ name }}', ['€'.repeat(79)], false],
  ['Hi {{ name }}', ['Δéa'], true],
  ['Hi {{ name }}', ['João'], false],
  ['Hi {{ name }}', ['漢'], false],
  ['“{{ name }}”', ['Ann'], false],
  ['Hi {{ name }}', ['👩'], false],
  ['Hi {{ name }}', ['a\u0001'], false],
  ['Hi {{ name }}', ['a\t'], false],
  ['Hi {{ name }}', ['a"\\'], true],
  ['Hi {{ name }}', [' \u200b'], false],
  ['Hi {{ name }}', ['\u200b'], false],
  ['Hi {{ name }}', ['\u3000\u3000'], false],
  ['{{ name }}{{ note | default: "-" }}', ['Ann', ''], true],
  ['{{ note | default: "-" }}', ['Ann', ''], false],
  ['{{ note | default: "-" }}', ['Ann', ' '], false],
  ['{{ note }}', ['Ann'], false],
])('of %s and %j it knows one part, where it can', (text, cells, isOnePart) => {
  expect(bind(text).byBytes?.isOnePart(aByteRow(cells)) ?? false).toBe(isOnePart);
});

it.each(['No variables', '👩 {{ name }}', '{{ name }}{{ note | default: "👩" }}', '{{ name | upcase }}'])(
  'there is none of %s',
  (text) => {
    expect(bind(text).byBytes?.isOnePart(aByteRow(['Ann', 'Bea']))).not.toBe(true);
  },
);
