import { describe, expect, test } from 'vitest';
import { parseJob } from '../../../src/job/load.js';
import { aJobFile, everythingSaid, inputOf, placesOf, problemsOf, refusalOf } from '../a-job-file.js';

const MIB = 1024 * 1024;

describe('bounds', () => {
  test.each([
    ['brackets', '['.repeat(MIB)],
    ['braces', '{a: '.repeat(MIB / 4)],
    ['dashes on one line', '- '.repeat(MIB / 2)],
    ['question marks', '? '.repeat(MIB / 2)],
    ['keys on one line', 'a: '.repeat(MIB / 4)],
    ['stairs of keys', Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['a second document', `${aJobFile()}\n---\n${'['.repeat(MIB / 2)}`],
  ])('refuse nesting by %s before anything is built', (_name, text) => {
    expect(refusalOf(text).message).toContain('nested more than 32 levels deep');
  });

  test('refuse a text of more than 1 MiB, counted in bytes', () => {
    expect(refusalOf('#'.repeat(MIB + 1)).message).toContain('longer than 1 MiB');
    expect(refusalOf(`#${'é'.repeat(MIB / 2)}`).message).toContain('longer than 1 MiB');
  });

  test('take a comment of just under 1 MiB', () => {
    const job = aJobFile();
    expect(parseJob(`#${' '.repeat(MIB - job.length - 2)}\n${job}`, 'sale.yaml').name).toBe('sale');
  });

  test('refuse more than 100,000 parts', () => {
    expect(refusalOf(`[${','.repeat(MIB - 10)}]`).message).toContain('more than 100000 parts');
  });

  test('take a list of 10,000 files', () => {
    const files = Array.from({ length: 10_000 }, (_, index) => `      - ${index}.csv`).join('\n');
    const job = parseJob(
      `service: { sandbox: true }\nsteps:\n- kind: sms\n  destination: a\n  template: { text: a }\n  input:\n    files:\n${files}`,
      'sale.yaml',
    );
    expect(inputOf(job).files).toHaveLength(10_000);
  });
});

describe('what YAML has and a job file has not', () => {
  test('aliases, so that nine lines cannot become a billion', () => {
    const bomb = `a: &a [x, x]\nb: &b [*a, *a]\nname: *b\nservice: { sandbox: true }\n`;
    const said = placesOf(bomb);
    expect(said).toContainEqual('1:1 a has a YAML anchor (&), which a job file cannot use');
    expect(said).toContainEqual('3:1 name is a YAML alias (*), which a job file cannot use');
  });

  test('merge keys', () => {
    expect(placesOf('service:\n  <<: { sandbox: true }\n')).toContainEqual(
      '2:3 service has a YAML merge key (<<), which a job file cannot use',
    );
  });

  test('tags', () => {
    const said = placesOf('name: !!str 5\nsteps: !!seq []\n');
    expect(said).toContainEqual('1:1 name has a YAML tag (!), which a job file cannot use');
    expect(said).toContainEqual('2:1 steps has a YAML tag (!), which a job file cannot use');
    expect(problemsOf('name: !mine 5')[0]?.message).toContain('has a YAML tag (!)');
  });

  test('directives, so that no file can ask for the booleans of YAML 1.1', () => {
    expect(placesOf(`%YAML 1.1\n---\n${aJobFile()}`)).toEqual([
      '1:1 A line that begins with % is a YAML directive, which a job file cannot use',
    ]);
    expect(parseJob(`%YAML 1.2\n---\n${aJobFile()}`, 'sale.yaml').name).toBe('sale');
  });

  test('several documents', () => {
    expect(placesOf(`${aJobFile()}\n---\n${aJobFile()}`)).toEqual(['2:1 A second document begins here, expected one']);
    expect(parseJob(`---\n${aJobFile()}\n...\n`, 'sale.yaml').name).toBe('sale');
  });

  test('a key twice', () => {
    expect(placesOf('service: { sandbox: true }\nsteps: []\nservice: { sandbox: false }')).toContainEqual(
      '3:1 service is written twice, expected once',
    );
  });

  test('keys that are no text', () => {
    expect(placesOf('{ a: 1 }: 2\n')).toContainEqual('1:1 A key of the job is not text, expected a word and a colon');
    expect(placesOf('? [a]\n: 2\n')).toContainEqual('1:3 A key of the job is not text, expected a word and a colon');
  });

  test('__proto__, which would vanish in an object', () => {
    const text = aJobFile().replace('{"service"', '{"__proto__":{"name":"x"},"service"');
    expect(placesOf(text)).toEqual(['1:2 the job has the key __proto__, expected any other name']);
  });
});

describe('broken YAML', () => {
  test.each([
    ['name: "sale\nfailOn: x\n', /^\d:\d+ A quote or bracket is not closed/],
    ['steps:\n\t- kind: sms\n', /A tab is used as indentation/],
    ['steps: - kind: sms\n', /^1:8 YAML does not expect what is written here/],
    ['name: `sale`\n', /^1:7 A value cannot begin with this character/],
    ['name: "\\q"\n', /^1:8 A backslash in double quotes/],
    ['steps: [\n', /a bracket is not closed/],
    ['name: a\n  b: c\n', /^\d:\d+ /],
    ['name: a\u0000b\n', /^1:8 There is a control character/],
    ['name: a\uFFFDb\n', /^1:8 There is a control character or a damaged character here/],
  ])('%j is refused with its place', (text, expected) => {
    expect(placesOf(text)[0]).toMatch(expected);
  });

  test('says to quote "-" in a list', () => {
    const [problem] = problemsOf('steps: [{ input: { files: [-] } }]');
    expect(problem?.hint).toContain('Put a dash that is meant as text in quotes: "-".');
  });

  test('never repeats the text, for it may be a secret', () => {
    for (const value of [
      '*sk_live_1',
      '!sk_live_1',
      '&sk_live_1',
      '"sk_live_1',
      '`sk_live_1',
      '"\\qsk_live_1"',
      '@sk_live_1',
    ]) {
      const said = everythingSaid(refusalOf(`service: { credentials: { apiKey: ${value} } }`));
      expect(said).not.toContain('sk_live_1');
    }
  });
});
