import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Cell } from '../../src/domain/row.js';
import { Columns } from '../../src/normalize/columns.js';
import type { BoundTemplate } from '../../src/template/bind-template.js';
import { parseTemplate } from '../../src/template/parse.js';
import { renderRow } from './render-row.js';

const columns = ['name', 'city', 'First Name', 'e-mail', 'day'];

function bind(text: string): BoundTemplate {
  const of = new Columns(columns);
  const bound = parseTemplate(text).bind(of);
  expect(of.problems).toEqual([]);
  return bound;
}

/** The text, or the code and the variable that refused the row. */
function render(text: string, row: Partial<Record<string, Cell>>): string {
  const rendering = renderRow(
    bind(text),
    columns.map((column) => row[column]),
  );
  return rendering.ok ? rendering.text : `${rendering.code} ${rendering.variable}`.trim();
}

describe('a bound template', () => {
  test('fills in the cells of the row', () => {
    expect(render('Hi {{ name }} of {{ city }}!', { name: 'Ann', city: 'Oslo' })).toBe('Hi Ann of Oslo!');
  });

  test('reads a column whose name has blanks or punctuation', () => {
    expect(render('{{ ["First Name"] }} {{ e-mail }}', { 'First Name': 'Ann', 'e-mail': 'a@b' })).toBe('Ann a@b');
  });

  test('writes cells as they are: nothing is escaped, run or trimmed', () => {
    expect(render('{{ name }}', { name: ' <b> & {{ city }} {% if %}' })).toBe(' <b> & {{ city }} {% if %}');
  });

  test.each([undefined, '', ' ', '\t\r\n', '\u00A0', '\u200B', '\uFEFF'])(
    'refuses a row whose cell is %j and names the variable, on the fast path and in LiquidJS',
    (name) => {
      expect(render('Hi {{ name }}', { name })).toBe('missing-value name');
      expect(render('Hi {{ name | upcase }}', { name })).toBe('missing-value name');
    },
  );

  test.each([
    '{{ name | append: city }}',
    '{{ city | append: name }}',
    '{{ name.size }}',
    '{% assign n = name %}{{ n }}',
    '{% capture n %}{{ name }}{% endcapture %}{{ n }}',
    '{% for x in name %}{{ x }}{% endfor %}',
    '{% for x in (1..name) %}{{ x }}{% endfor %}',
    '{% for x in (1..3) limit: name %}{{ x }}{% endfor %}',
    '{% cycle name, city %}',
    '{% echo name %}',
    '{% liquid\n echo name | upcase\n%}',
    '{{ name | default: name }}',
    '{{ name | date: "%d" }}',
    '{% if city %}{{ name }}{% endif %}',
    '{{ name | raw }}',
    '{{ name | split: "," | join: "-" }}',
  ])('refuses a row that lacks the name for %s', (text) => {
    expect(render(text, { city: '2026-11-01' })).toBe('missing-value name');
  });

  test.each([
    ['{{ name | default: "you" }}', 'you'],
    ['{{ name | default: 5 }}', '5'],
    ['{{ name | default: "" }}!', '!'],
    ['{{ name | default: city }}', 'Oslo'],
    ['{{ name | default: "you" | upcase }}', 'YOU'],
    ['{{ name | capitalize | default: "you" }}', 'you'],
    ['{{ name | append: "!" | default: "you" }}', 'you'],
    ['{{ city | append: name | default: "you" }}', 'you'],
    ['{% assign n = name | default: "you" %}{{ n }}', 'you'],
    ['{% assign n = name %}{{ n | default: "you" }}', 'you'],
  ])('writes the default of %s', (text, written) => {
    expect(render(text, { city: 'Oslo' })).toBe(written);
  });

  test('needs the default of a default only where the first is missing too', () => {
    expect(render('{{ name | default: city }}', { name: 'Ann' })).toBe('Ann');
    expect(render('{{ name | default: city }}', {})).toBe('missing-value city');
  });

  test.each([
    ['{% if name %}yes{% else %}no{% endif %}', 'no'],
    ['{% unless name %}none{% endunless %}', 'none'],
    ['{% if city and name %}both{% elsif city %}one{% endif %}', 'one'],
    ['{% if not name %}none{% endif %}', 'none'],
    ['{% if name == "" %}empty{% endif %}', 'empty'],
    ['{% if name == blank and name == empty and name == nil %}blank{% endif %}', 'blank'],
    ['{% if blank == name and "" != city %}blank{% endif %}', 'blank'],
    ['{% if name != "Ann" %}other{% endif %}', 'other'],
    ['{% if name > 3 or name < 3 or name >= 3 or name <= 3 %}number{% else %}none{% endif %}', 'none'],
    ['{% if "nullable" contains name %}yes{% else %}no{% endif %}', 'no'],
    ['{% if name contains "a" %}yes{% else %}no{% endif %}', 'no'],
    ['{% if name.size > 3 %}long{% else %}short{% endif %}', 'short'],
    ['{% case name %}{% when "Ann" %}A{% else %}other{% endcase %}', 'other'],
    ['{% assign n = name | upcase %}{% if n %}{{ n }}{% else %}none{% endif %}', 'none'],
  ])('takes an empty cell for false in %s', (text, written) => {
    expect(render(text, { city: 'Oslo', name: '' })).toBe(written);
  });

  test('compares present cells as texts, and as numbers with numbers', () => {
    expect(render('{% if name contains "nn" and city > 10 %}yes{% endif %}', { name: 'Ann', city: '20' })).toBe('yes');
  });

  test('never shows a cell in the reason for a refusal', () => {
    const row = columns.map(() => 'Secret');
    for (const text of ['{{ name[city] }}', '{{ [name] }}', '{{ name | date: "%d" }}', '{{ name | date: city }}']) {
      const rendering = renderRow(bind(text), row);
      expect(rendering.ok).toBe(false);
      expect(JSON.stringify(rendering)).not.toContain('Secret');
    }
  });

  test.each(['now', 'today', '1/11/2026'])('refuses the row, and not the plan, whose date is "%s"', (day) => {
    expect(render('{{ day | date: "%d %b" }}', { day })).toBe('bad-date');
    expect(render('{{ day | date: "%d %b" }}', { day: '2026-11-01' })).toBe('01 Nov');
    expect(render('{{ day | date: "%d %b", "dd.MM.yyyy" }}', { day: '01.11.2026' })).toBe('01 Nov');
    expect(render('{{ day | date: "%d %b", "dd.MM.yyyy" }}', { day })).toBe('bad-date');
  });

  test('refuses a row that would make a text without end', () => {
    const text = '{% for x in (1..name) %}a{% endfor %}';
    expect(render(text, { name: '3' })).toBe('aaa');
    expect(render(text, { name: '999999999' })).toBe('not-rendered');
  });

  test('keeps nothing from one row for the next', () => {
    const bound = bind(
      '{% increment i %}{% cycle "a", "b" %}{% if name %}{% assign n = 1 %}{% endif %}{% if n %}!{% endif %}',
    );
    expect(renderRow(bound, ['Ann'])).toEqual({ ok: true, text: '0a!' });
    expect(renderRow(bound, [''])).toEqual({ ok: true, text: '0a' });
  });

  test('gives a text without variables for any row', () => {
    const bound = bind('{{ "Sale" | upcase }}');
    expect([renderRow(bound, []), renderRow(bound, ['x'])]).toEqual([
      { ok: true, text: 'SALE' },
      { ok: true, text: 'SALE' },
    ]);
  });
});

function bindTo(text: string, names: readonly string[]) {
  const of = new Columns(names);
  return { bound: parseTemplate(text).bind(of), problems: of.problems };
}

describe('binding to columns', () => {
  test('says of every variable without a column where it stands and which columns there are', () => {
    const { problems } = bindTo('{{ nmae }}\n{% if zip %}{% endif %}{{ city }}', columns);
    expect(problems.map(({ message }) => /matches '(\w+)'/.exec(message)?.[1])).toEqual(['nmae', 'zip']);
    expect(problems[0]?.message).toContain('line 1, column 4');
    expect(problems[0]?.message).toContain("no column matches 'nmae'; columns: name, city, First Name, e-mail, day");
    expect(problems[0]?.hint).toBe('Did you mean "name"?');
  });

  test('folds names as headers do', () => {
    const { bound } = bindTo('{{ first_name }}{% if first_name %}{% endif %}', columns);
    expect(renderRow(bound, ['', '', 'Ann'])).toEqual({ ok: true, text: 'Ann' });
  });

  test.each(['constructor', '__proto__', 'toString'])('finds no column %s where there is none', (name) => {
    expect(bindTo(`{{ ${name} | upcase }}`, columns).problems).toHaveLength(1);
  });

  test('reads a column named like a property of every object', () => {
    const { bound } = bindTo('{{ constructor }}{{ __proto__ | upcase }}', ['constructor', '__proto__']);
    expect(renderRow(bound, ['a', 'b'])).toEqual({ ok: true, text: 'aB' });
  });
});

describe('a template on another machine', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('renders a date the same in every time zone', () => {
    const offsets = new Set<number>();
    const texts = ['UTC', 'America/New_York', 'Asia/Singapore', 'Pacific/Kiritimati'].map((zone) => {
      vi.stubEnv('TZ', zone);
      offsets.add(new Date('2026-03-08T00:00:00Z').getTimezoneOffset());
      return ['2026-03-08', '2026-03-08T02:30', '2026-11-01T01:30Z']
        .map((day) => render('{{ day | date: "%A %d %B %Y %H:%M" }}', { day }))
        .join();
    });
    expect(offsets.size).toBe(4);
    expect(new Set(texts)).toEqual(
      new Set(['Sunday 08 March 2026 00:00,Sunday 08 March 2026 02:30,Sunday 01 November 2026 01:30']),
    );
  });
});
