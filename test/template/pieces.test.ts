import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cell } from '../../src/domain/row.js';
import { Columns } from '../../src/normalize/columns.js';
import { type BoundTemplate, bindColumns, compilePieces } from '../../src/template/bind-template.js';
import { createEngine, listVariableUses } from '../../src/template/parse.js';
import { runsOf } from '../one-in.js';
import { renderRow } from './render-row.js';

const columns = ['name', 'city', 'First Name', 'e-mail', 'constructor', '__proto__'];

/** Renders a text through its pieces, if it has some, and through LiquidJS. */
function bindTwice(text: string): { fast: BoundTemplate; slow: BoundTemplate; isPlain: boolean } {
  const engine = createEngine();
  const nodes = engine.parse(text);
  const uses = listVariableUses(engine, nodes);
  const pieces = compilePieces(nodes);
  const fast = bindColumns({ engine, nodes, uses, pieces }, new Columns(columns));
  const slow = bindColumns({ engine, nodes, uses, pieces: undefined }, new Columns(columns));
  return { fast, slow, isPlain: pieces !== undefined };
}

const plainText = fc
  .string({ unit: fc.constantFrom('a', ' ', '\n', '\t', '}', '%', '"', "'", '€', '中', '😀', '-', '|') })
  .filter((text) => !text.includes('{'));
const literal = fc.constantFrom("'you'", '"you there"', '""', "' '", '5', '0.50', '-1', '"a\\"b\\n"', "'{{'");
const name = fc.constantFrom('name', 'city', 'e-mail', '["First Name"]', "['name']", 'constructor', '__proto__');
const open = fc.constantFrom('{{ ', '{{', '{{- ', '{{-');
const close = fc.constantFrom(' }}', '}}', ' -}}', '-}}');
const output = fc
  .tuple(open, name, fc.option(literal), close)
  .map(
    ([begin, variable, fallback, end]) =>
      `${begin}${variable}${fallback === null ? '' : ` | default: ${fallback}`}${end}`,
  );
const template = fc.array(fc.oneof(plainText, output), { maxLength: 8 }).map((parts) => parts.join(''));
const cell: fc.Arbitrary<Cell> = fc.oneof(
  fc.constantFrom(undefined, '', ' ', '\u00A0', '\u200B', '0', 'false', 'nil', '{{ name }}', '\uD83D', '__proto__'),
  fc.constantFrom('{"a":1}', '[1]', '[1', '"', '\\', 'a\nb', '\u3000', '\u001f'),
  fc.string(),
);
const row = fc.array(cell, { maxLength: columns.length });

describe('compilePieces', () => {
  test('makes pieces that render every plain template and row as LiquidJS does', () => {
    fc.assert(
      fc.property(template, row, (text, cells) => {
        const { fast, slow, isPlain } = bindTwice(text);
        expect(isPlain).toBe(true);
        expect(renderRow(fast, cells)).toEqual(renderRow(slow, cells));
      }),
      { numRuns: runsOf(1000) },
    );
  });

  test.each([
    '{{ name | upcase }}',
    '{{ name | default: city }}',
    '{{ name | default: "a", allow_false: true }}',
    '{{ name | default: nil }}',
    '{{ name | default: "a" | upcase }}',
    '{{ name.size }}',
    '{{ name[0] }}',
    '{{ "literal" }}',
    '{{ true }}',
    '{{ (1..3) }}',
    '{{ name == city }}',
    '{% if name %}a{% endif %}',
    '{% raw %}{{ name }}{% endraw %}',
    '{% comment %}a{% endcomment %}',
  ])('leaves %s to LiquidJS', (text) => {
    expect(compilePieces(createEngine().parse(text))).toBeUndefined();
  });
});
