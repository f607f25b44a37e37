import { describe, expect, test } from 'vitest';
import type { UserError } from '../../src/domain/errors.js';
import { parseJob } from '../../src/job/load.js';

function refusalOf(text: string): UserError {
  try {
    parseJob(text, 'sale.yaml');
  } catch (error) {
    return error as UserError;
  }
  throw new Error('expected a refusal');
}

const aJobWith = (template: string) =>
  `service: { sandbox: true }\nsteps:\n  - kind: sms\n    input: { files: a.csv }\n    destination: mobile\n    ${template}\n`;

describe('a text that stands without quotes', () => {
  test.each([
    ['template:\n      text: {{ name }}, hi', 'text: "{{ name }}, hi"'],
    ['template:\n      text: {{ name }}', 'text: "{{ name }}"'],
    ['template: { text: Hi: {{ name }} }', 'text: "Hi: {{ name }}"'],
    ['template: { source: ACME, text: Hi {{ name }} }', 'text: "Hi {{ name }}"'],
    ['template:\n      text: Note: we open', 'text: "Note: we open"'],
    ['template:\n      text: {{ name }} says "hi"', `text: '{{ name }} says "hi"'`],
  ])('is one problem, and is shown as it should be written: %s', (template, shown) => {
    const { problems } = refusalOf(aJobWith(template));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ hint: `Put the text in quotes: ${shown}` });
    expect(problems[0]?.where).toMatch(/^sale\.yaml:[67]:/);
  });

  test('is not looked for in a job that can be used, nor in a text that has its quotes', () => {
    const block = 'template:\n      text: |\n        text: {{ name }}: hi';
    expect(parseJob(aJobWith(block), 'sale.yaml').steps).toHaveLength(1);
    const { problems } = refusalOf(aJobWith('template: { text: "Hi {{ name }}", sorce: ACME }'));
    expect(problems.map(({ message }) => message).join()).toContain('sorce');
  });
});

test('tabs are one problem, however many lines have one', () => {
  const { problems } = refusalOf('service:\n\tsandbox: true\nsteps:\n\t- kind: sms\n\t  input: a\n');
  expect(problems.map(({ message }) => message)).toEqual(['A tab is used as indentation']);
});

test.each([
  ['Hi {{ name', 'not closed'],
  ['Hi {{ First Name }}', 'nothing connects its words'],
  ['Hi {{ user.name }}', 'a cell is text'],
])('the template %j is refused with the line of the job file', (text, told) => {
  const { problems } = refusalOf(aJobWith(`template: { text: "${text}" }`));
  expect(problems).toMatchObject([
    { where: expect.stringMatching(/^sale\.yaml:6:/), message: expect.stringContaining(told) },
  ]);
});

test.each(['name,mobile\nAnna Tan,+6591234567\n', 'name: Anna Tan\nmobile: "+6591234567"\n', 'Anna Tan\n'])(
  'of a file that is no job nothing is repeated: %j',
  (text) => {
    const error = refusalOf(text);
    expect(JSON.stringify([error.message, error.problems, error.hint])).not.toMatch(/Anna|6591234567/);
  },
);

test('a misspelt key of a local time is named, with the key that was meant', () => {
  const { problems } = refusalOf(
    `notBefore: { at: 2026-12-01 10:00, timezone: UTC }\n${aJobWith('template: { text: Hi }')}`,
  );
  expect(problems.map(({ message }) => message)).toEqual([
    'notBefore.timeZone is missing, expected text',
    '"timezone" is not a key of notBefore, expected timeZone',
  ]);
});

describe('a time', () => {
  const TEMPLATE = 'template: { text: Hi }';

  test.each([
    ['MEZ', 'Did you mean Europe/Berlin?'],
    ['Berlin', 'Did you mean Europe/Berlin?'],
    ['Mond', undefined],
  ])('in the zone %s is refused where that is written, and the nearest zone is suggested', (zone, hint) => {
    for (const key of ['notBefore', 'notAfter']) {
      const time = `${key}:\n  at: 27.11.2026 10:00\n  timeZone: ${zone}\n`;
      expect(refusalOf(`${time}${aJobWith(TEMPLATE)}`).problems).toEqual([
        {
          where: 'sale.yaml:3:3',
          message: `${key}.timeZone is "${zone}", expected the name of a time zone such as Asia/Singapore`,
          ...(hint === undefined ? {} : { hint }),
        },
      ]);
    }
  });

  test.each([
    ['27.11.2026 10:00', '{ at: "27.11.2026 10:00", timeZone: Asia/Singapore }'],
    ['2026-11-27 10:00 MEZ', '{ at: "2026-11-27 10:00", timeZone: Europe/Berlin }'],
    ['27.11.2026 10:00 Europe/Vienna', '{ at: "27.11.2026 10:00", timeZone: Europe/Vienna }'],
  ])('%s without a map is refused with what to write, which is understood', (written, map) => {
    for (const [key, job] of [
      ['notBefore', (time: string) => `notBefore: ${time}\n${aJobWith(TEMPLATE)}`],
      ['steps[0].template.scheduled', (time: string) => aJobWith(`template: { text: "Hi", scheduled: ${time} }`)],
      ['steps[0].template.expiry', (time: string) => aJobWith(`template: { text: "Hi", expiry: ${time} }`)],
    ] as const) {
      expect(refusalOf(job(written)).problems.map(({ message }) => message)).toEqual([
        `${key} is "${written}", expected its time zone in a map with it, such as ${map}`,
      ]);
      expect(parseJob(job(map), 'sale.yaml').steps).toHaveLength(1);
    }
  });
});

test.each([
  [`{ text: "${'x'.repeat(1531)}" }`, 'its text needs 11 parts in GSM-7, expected at most 10 parts'],
  [`{ text: "${'x'.repeat(669)}–…" }`, 'its text needs 11 parts in UCS-2 because of – (U+2013 EN DASH)'],
  ['{ text: "Hi 👋", encoding: GSM7 }', 'its text contains 👋'],
  ['{ text: "{% if false %}x{% endif %}" }', 'its text is empty'],
])('a text that no row can be sent is a fault of the job, on its line: %.40s', (template, told) => {
  expect(refusalOf(aJobWith(`template: ${template}`)).problems).toMatchObject([
    { where: expect.stringMatching(/^sale\.yaml:6:/), message: expect.stringContaining(told) },
  ]);
  const inVain = template.replace(/ }$/, ', smartReplace: true }');
  if (template.includes('–')) expect(parseJob(aJobWith(`template: ${inVain}`), 'sale.yaml').steps).toHaveLength(1);
});
