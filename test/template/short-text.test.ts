import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findColumn } from '../../src/read/columns.js';
import { checkText } from '../../src/template/check-text.js';
import { parseTemplate } from '../../src/template/parse.js';
import { TextBuffer } from '../../src/text-buffer.js';

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
  fc.string({ unit: fc.constantFrom('a', 'b', '€'), minLength: 60, maxLength: 90 }),
);
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('{{ name }}', '{{ note }}', '{{ note | default: "-" }}') },
  { weight: 3, arbitrary: of(['x', ' ', '"', '\\', '\n', 'é', '€'], 6) },
  fc.constantFrom('text '.repeat(15), 'ã', '—'),
);
const template = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));

it('a short text is what rendering, checking and JSON make of the cells, and one part', () => {
  let fitting = 0;
  fc.assert(
    fc.property(template, fc.array(words, { minLength: 1, maxLength: 2 }), (text, cells) => {
      const { short, render } = bind(text);
      if (short === undefined || !short.fits(cells)) return;
      fitting += 1;
      const rendering = render(cells);
      if (!rendering.ok) throw new Error('a text that cannot be rendered fits');
      for (const encoding of ['AUTO', 'GSM7'] as const) {
        const check = checkText(rendering.text, encoding);
        expect(check).toMatchObject({ ok: true, count: { segments: 1, firstUcs2Character: undefined } });
      }
      const written = new TextBuffer();
      short.write(cells, written);
      expect(written.bytes.toString('utf8')).toBe(JSON.stringify(rendering.text));
    }),
    { numRuns: 2000 },
  );
  expect(fitting).toBeGreaterThan(200);
});

it.each([
  ['Hi {{ name }}', ['Ann'], true],
  ['Hi {{ name }}', ['a'.repeat(157)], true],
  ['Hi {{ name }}', ['a'.repeat(158)], false],
  ['Hi {{ name }}', ['€'.repeat(79)], false],
  ['Hi {{ name }}', ['João'], false],
  ['Hi {{ name }}', [' \u200b'], false],
  ['{{ note | default: "-" }}', ['Ann', ''], false],
  ['{{ note | default: "-" }}', ['Ann'], false],
])('of %s and %j it takes what is one part and all there', (text, cells, fits) => {
  expect(bind(text).short?.fits(cells)).toBe(fits);
});

it.each(['No variables', '“{{ name }}”', '{{ name | upcase }}'])('there is none of %s', (text) => {
  expect(bind(text).short).toBeUndefined();
});
