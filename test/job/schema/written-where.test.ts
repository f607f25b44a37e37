import { describe, expect, test } from 'vitest';
import { isRowStep } from '../../../src/job/job.js';
import { parseJob } from '../../../src/job/load.js';
import { aJobFile, anSmsStep, hintsOf, messagesOf, problemsOf } from '../a-job-file.js';

const withInput = (input: Record<string, unknown>) =>
  aJobFile({ steps: [anSmsStep({ input: { files: 'a.csv', ...input } })] });
const withWhere = (where: unknown) => withInput({ where });

function fill(where: unknown) {
  const [step] = parseJob(withWhere(where), 'sale.yaml').steps;
  return step !== undefined && isRowStep(step) ? step.input.where : undefined;
}

test('what is written short is written out', () => {
  expect(
    fill({
      consent: 'yes',
      country: ['SG', 'MY'],
      vip: true,
      level: 3,
      email: 'present',
      spend: { atLeast: 1, atMost: 2 },
    }),
  ).toEqual([
    [
      { column: 'consent', tests: [{ op: 'equals', values: ['yes'], exact: false }] },
      { column: 'country', tests: [{ op: 'equals', values: ['SG', 'MY'], exact: false }] },
      { column: 'vip', tests: [{ op: 'equals', values: ['true'], exact: false }] },
      { column: 'level', tests: [{ op: 'equals', values: [3], exact: false }] },
      { column: 'email', tests: [{ op: 'present' }] },
      {
        column: 'spend',
        tests: [
          { op: 'atLeast', bound: 1 },
          { op: 'atMost', bound: 2 },
        ],
      },
    ],
  ]);
});

test('a list of maps is a list of groups', () => {
  expect(
    fill([{ a: { not: ['x', 'y'], exact: true } }, { b: { after: '2026-01-01', format: 'd.M.yyyy' }, c: 'blank' }]),
  ).toEqual([
    [{ column: 'a', tests: [{ op: 'not', values: ['x', 'y'], exact: true }] }],
    [
      { column: 'b', tests: [{ op: 'after', bound: '2026-01-01', format: 'd.M.yyyy' }] },
      { column: 'c', tests: [{ op: 'blank' }] },
    ],
  ]);
});

test('an input without it is as it was: no key of it is in a plan', () => {
  const [step] = parseJob(withInput({}), 'sale.yaml').steps;
  expect(Object.keys(step !== undefined && isRowStep(step) ? step.input : {})).not.toContain('where');
});

const AT = 'steps[0].input.where';
const SHAPES =
  'expected a value, a list of values, blank, present, or a map of equals, not, atLeast, atMost, before, after';
const WORDS =
  'expected blank and present alone, as in email: present; for cells that hold the word write equals: present';

describe('a where that would not say what is meant is refused', () => {
  test.each<[where: unknown, message: string]>([
    ['consent = yes', `${AT} is "consent = yes", expected a map of columns, or a list of such maps`],
    [null, `${AT} is empty, expected a map of columns, or a list of such maps`],
    [{}, `${AT} is a map, expected at least one column`],
    [[], `${AT} is an empty list, expected at least 1 entry`],
    [{ consent: null }, `${AT}.consent is empty, ${SHAPES}`],
    [{ consent: ' ' }, `${AT}.consent is " ", expected text, or the word blank for cells without any`],
    [{ consent: [] }, `${AT}.consent is an empty list, expected at least 1 entry`],
    [{ consent: ['yes', null] }, `${AT}.consent[1] is empty, expected text, a number, true or false`],
    [{ country: ['SG', 'blank'] }, `${AT}.country is a list, ${WORDS}`],
    [{ tag: { not: 'present' } }, `${AT}.tag.not is "present", ${WORDS}`],
    [
      { level: [1, 'two'] },
      `${AT}.level is a list, expected only texts or only numbers; put numbers that are texts in quotes`,
    ],
    [{ id: 6591234567891234 }, `${AT}.id is 6591234567891234, expected it in quotes: the number has too many digits`],
    [{ spend: { atLeast: '100' } }, `${AT}.spend.atLeast is "100", expected a number`],
    [{ spend: {} }, `${AT}.spend is a map, expected at least one of equals, not, atLeast, atMost, before, after`],
    [
      { spend: { exact: true } },
      `${AT}.spend is a map, expected at least one of equals, not, atLeast, atMost, before, after`,
    ],
    [{ spend: { atLeast: 1, exact: true } }, `${AT}.spend is a map, expected equals or not with a text beside exact`],
    [
      { day: { after: '01.02.2026' } },
      `${AT}.day.after is "01.02.2026", expected a date such as 2026-01-31 or 90 days ago, or a time with its offset, such as 2026-01-31T09:00:00+08:00`,
    ],
    [
      { day: { before: '2026-01-31T09:00' } },
      `${AT}.day.before is "2026-01-31T09:00", expected a date such as 2026-01-31 or 90 days ago, or a time with its offset, such as 2026-01-31T09:00:00+08:00`,
    ],
    [{ day: { after: '2026-13-01' } }, `${AT}.day.after is "2026-13-01", expected a day that exists`],
    [{ day: { after: '2026-02-30' } }, `${AT}.day.after is "2026-02-30", expected a day that exists`],
    [
      { day: { after: '2026-01-01', format: 'DD.MM.YYYY' } },
      `${AT}.day.format is "DD.MM.YYYY", the input format contains DD, expected only yyyy MM M dd d HH H hh h mm ss a`,
    ],
    ...[{ equals: 'x' }, { after: '2026-01-01', atLeast: 1 }].map((tests): [unknown, string] => [
      { day: { ...tests, format: 'dd.MM.yyyy' } },
      `${AT}.day is a map, expected either before or after beside format, or a comparison with a number`,
    ]),
    ...['1.234.56', '1,234,56', '#.##0,00', '1234', '1.234,5', '500'].map((format): [unknown, string] => [
      { spend: { atLeast: 500, format } },
      `${AT}.spend.format is "${format}", expected how the file writes 1234.56, such as "1.234,56", "1,234.56" or "1 234,56"`,
    ]),
    ...['90 days', '-1 days ago', 'yesterday', '1.5 days ago', '90 hours ago'].map((after): [unknown, string] => [
      { day: { after } },
      `${AT}.day.after is "${after}", expected a date such as 2026-01-31 or 90 days ago, or a time with its offset, such as 2026-01-31T09:00:00+08:00`,
    ]),
    [
      { day: { after: '2026-01-01T00:00Z', format: 'dd.MM.yyyy' } },
      `${AT}.day is a map, expected before and after as days: a format has no offset`,
    ],
    [{ land: { as: 'country' } }, `${AT}.land is a map, expected equals or not beside as, and nothing else`],
    [
      { land: { as: 'country', equals: 'DE', exact: true } },
      `${AT}.land is a map, expected equals or not beside as, and nothing else`,
    ],
    [
      { land: { as: 'country', equals: ['DE', 'Deutshland'] } },
      `${AT}.land.equals is a list, "Deutshland" is not a country, expected a name or a two-letter code such as SG`,
    ],
    [{ land: { as: 'land', equals: 'DE' } }, `${AT}.land.as is "land", expected country`],
    [[{ a: 'x' }, {}], `${AT}[1] is a map, expected at least one column`],
  ])('%j', (where, message) => {
    expect(messagesOf(withWhere(where))).toEqual([message]);
  });

  test('an operator that there is not, with the nearest', () => {
    expect(messagesOf(withWhere({ spend: { atleast: 100 } }))).toEqual([
      `"atleast" is not a key of ${AT}.spend, expected atLeast`,
    ]);
    expect(hintsOf(withWhere({ spend: { atleast: 100 } }))).toEqual(['Did you mean atLeast?']);
  });

  test('with the line on which it stands', () => {
    const text = [
      'service: { sandbox: true }',
      'steps:',
      '  - kind: sms',
      '    input:',
      '      files: a.csv',
      '      where:',
      '        country: [SG, blank]',
      '    destination: mobile',
      '    template: { text: Hi }',
    ].join('\n');
    expect(problemsOf(text).map(({ where }) => where)).toEqual(['sale.yaml:7:9']);
  });

  test('in a suppression list: a number that it omits would get the message', () => {
    const text = aJobFile({ steps: [anSmsStep({ suppress: { files: 'stop.csv', where: { status: 'out' } } })] });
    expect(messagesOf(text)).toEqual([expect.stringContaining('"where" is not a key of steps[0].suppress')]);
  });
});
