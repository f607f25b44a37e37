import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/domain/errors.js';
import { parseTemplate } from '../../src/template/parse.js';

function errorOf(text: string): UserError {
  try {
    parseTemplate(text);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  return expect.fail(`no error for ${text}`);
}

describe('parseTemplate', () => {
  test('lists the variables of outputs, conditions, loops, filters and tags, each once, in the order of the text', () => {
    const template = parseTemplate(
      `{{ a }}{% if b == c %}{{ a }}{% elsif d %}{% endif %}{% for x in e %}{{ x }}{{ forloop.index }}{% endfor %}` +
        `{{ f | append: g }}{% assign l = h %}{{ l }}{% case i %}{% when j %}{% endcase %}{% unless k %}{% endunless %}` +
        `{% for y in (1..m) %}{% endfor %}{{ n | default: o }}{% capture p %}{{ q }}{% endcapture %}{% cycle r, 's' %}` +
        `{% liquid\n echo t\n%}{{ ["First Name"] }}{{ u.size }}`,
    );
    expect(template.variables).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
      'g',
      'h',
      'i',
      'j',
      'k',
      'm',
      'n',
      'o',
      'q',
      'r',
      't',
      'First Name',
      'u',
    ]);
    expect(template.constant).toBeUndefined();
  });

  test.each([
    'Plain',
    '{{ "a" | upcase }}',
    '{% assign a = 1 %}{{ a }}',
    '{% raw %}{{ a }}{% endraw %}',
    '{% comment %}{{ a }}{% endcomment %}x',
  ])('knows that every row has the same text in %s', (text) => {
    expect(parseTemplate(text)).toMatchObject({ constant: expect.any(String), variables: [] });
  });

  test.each([
    ['Hi {{ name', 'line 1, column 4', 'not closed'],
    ['{% if a %}', 'line 1, column 1', 'not closed'],
    ['One\n  {{ }}', 'line 2, column 6', 'expected Liquid'],
    ['Hi\n{{ name | upcse }}', 'line 2, column 1', 'no filter "upcse"'],
    ['{% fi a %}', 'line 1, column 1', 'no tag "fi"'],
  ])('refuses %j at %s', (text, place, reason) => {
    const error = errorOf(text);
    expect(error).toMatchObject({ code: 'bad-job', message: expect.stringContaining(place) });
    expect(error.message).toContain(reason);
    expect(error.problems[0]?.where).toMatch(/^template\.text:\d+:\d+$/);
  });

  test('suggests the nearest filter', () => {
    expect(errorOf('{{ name | upcse }}').hint).toBe('Did you mean "upcase"?');
  });

  test.each([
    ['{% include "a" %}', 'it would read a file', 'reads no other files'],
    ['{% render "a" %}', 'it would read a file', 'reads no other files'],
    ['{% layout "a" %}', 'it would read a file', 'reads no other files'],
    ['{% block a %}{% endblock %}', 'it would read a file', 'reads no other files'],
    ['{{ a | sample }}', 'its result is random', 'random'],
    ['{{ a | shuffle }}', 'its result is random', 'random'],
    ['{{ "now" | date: "%Y" }}', 'the plan would differ from day to day', 'the same on every day'],
    ['{{ "today" | date: "%Y" }}', 'the plan would differ from day to day', 'the same on every day'],
    ["{% assign d = 'Now' | date: '%Y' %}", 'the plan would differ from day to day', 'the same on every day'],
    ['{% if a %}{{ "now" | date: "%d" }}{% endif %}', 'the plan would differ from day to day', 'the same on every day'],
    ['{{ a | date }}', 'the text would depend on the machine', 'date'],
    ['{{ a | date: "%d", "Asia/Singapore" }}', 'the text would depend on the machine', 'date'],
    ['{{ a | date: "%c" }}', 'the text would depend on the machine', 'date'],
    ['{{ a | date: "%d", "dd.MM.yy" }}', 'the text would depend on the machine', 'date'],
    ['{{ a | date: "%d", "dd.MM.yyyy", "en" }}', 'the text would depend on the machine', 'date'],
    ['{{ a | date_to_string }}', 'the text would depend on the machine', 'date'],
    ['{{ a | where_exp: "x", "x == b" }}', 'it hides an expression in a string', 'cannot be checked'],
  ])('refuses %s: %s', (text, _why, said) => {
    expect(errorOf(text).message).toContain(said);
  });

  test('refuses words with nothing between them, where LiquidJS would print the first and leave out the rest', () => {
    expect(errorOf('Hi {{ First Name }}').problems[0]?.hint).toContain("{{ ['First Name'] }}");
    expect(errorOf("{{ 'It''s' }}").message).toContain('nothing connects');
    expect(errorOf('{% if a b %}{% endif %}').message).toContain('"a b"');
    expect(parseTemplate('{% if not a and b or c == d %}{% endif %}').variables).toEqual(['a', 'b', 'c', 'd']);
  });

  test('refuses a property that no text has', () => {
    const error = errorOf('{{ user.name }}');
    expect(error.message).toContain('user.name');
    expect(error.problems[0]?.hint).toContain("{{ ['user.name'] }}");
    expect(parseTemplate('{{ name.size }}{{ name[0] }}{% for x in name %}{{ x.y }}{% endfor %}').variables).toEqual([
      'name',
    ]);
  });

  test('reports every such problem at once', () => {
    const error = errorOf('{{ "now" | date: "%d" }}\n{{ user.name }}');
    expect(error.problems.map(({ where }) => where)).toEqual(['template.text:1:1', 'template.text:2:4']);
  });

  test.each(['{% for i in (1..9999999) %}{% endfor %}', '{{ "%zz" | url_decode }}'])(
    'refuses a text without variables that cannot be rendered: %s',
    (text) => {
      expect(errorOf(text).code).toBe('bad-job');
    },
  );
});
