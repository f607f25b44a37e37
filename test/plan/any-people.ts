import fc from 'fast-check';
import type { Input, RowStep, SmsStep } from '../../src/job/job.js';
import type { Where } from '../../src/job/schema/written-where.js';
import { aStart } from '../run/a-verification-run.js';
import { aNumber, anInput, anSmsStep, aTemplate, someLimits } from './a-plan.js';

export const people = anInput({ files: ['people.csv'], countryColumn: 'country' });
export const stopList: Input = anInput({ files: ['stop.csv'] });
export const anSms = (changes: Parameters<typeof anSmsStep>[0]): SmsStep => anSmsStep({ input: people, ...changes });

const START = aStart({ input: people, brand: 'ACME', codeLength: 4, limits: someLimits() });

const WHERE: Where = [
  [
    { column: 'note', tests: [{ op: 'not', values: ['a', 'É', '"'], exact: false }] },
    { column: 'name', tests: [{ op: 'atLeast', bound: 0 }] },
  ],
];
const OF_SINGAPORE: Where = [[{ column: 'mobile', tests: [{ op: 'equals', as: 'country', values: ['SG', 'DE'] }] }]];
const COUNTRY: Where = [[{ column: 'country', tests: [{ op: 'equals', values: ['DE', 'é'], exact: false }] }]];

const HOURS: NonNullable<SmsStep['window']> = {
  ...{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00' },
  ...{ timeZone: 'recipient', unknown: 'reject', outside: 'stop' },
};

export const STEPS: readonly (readonly [string, RowStep])[] = [
  ['texts of their own', anSms({ text: 'Hi {{ name }}: {{ note | default: "-" }}' })],
  ['texts that LiquidJS makes', anSms({ text: '{% if note %}{{ name | upcase }}{% endif %}', duplicates: 'keep' })],
  ['texts that may not need UCS-2', anSms({ template: aTemplate({ text: '{{ note }}', encoding: 'GSM7' }) })],
  [
    'requests that are full by their parts',
    anSms({ text: '{{ name }} {{ note }}', limits: someLimits({ segmentsPerSecond: 12 }) }),
  ],
  ['hours of their countries', anSms({ text: 'Hi {{ name }}', batchSize: 3, window: HOURS })],
  [
    'hours that a column names',
    anSms({ text: 'Hi {{ name }}', window: { ...HOURS, timeZone: { column: 'note' }, unknown: 'hold' } }),
  ],
  ['one text for all', anSms({ text: 'Open on “Friday”' })],
  ['suppressed numbers', anSms({ text: 'Hi {{ name }}', suppress: [stopList] })],
  ['codes', START],
  [
    'texts in which typography is replaced',
    anSms({ template: aTemplate({ text: '{{ name }} – {{ note | default: "…" }}', smartReplace: true }) }),
  ],
  [
    'texts of a template in which typography is replaced',
    anSms({ template: aTemplate({ text: 'Hi {{ name }} – „{{ note | default: "x" }}“…', smartReplace: true }) }),
  ],
  ['rows that a where takes', anSms({ input: { ...people, where: WHERE }, text: 'Hi {{ name }}' })],
  ['rows with numbers of a country', anSms({ input: { ...people, where: OF_SINGAPORE }, text: 'Hi {{ name }}' })],
  ['rows that one of two maps takes', { ...START, input: { ...people, where: [...WHERE, ...COUNTRY] } }],
];

const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
const mobile = fc.oneof(
  fc.nat(12).map(aNumber),
  fc.constantFrom('9000 0001', '12', '', 'n/a', '+4915112345678', '030 1234567', '+80012345678', '6.59123E+09'),
);
const country = fc.constantFrom('', '', 'de', 'XX');
const words = fc.oneof(
  fc.constantFrom('7', '-1', 'x', 'A '),
  fc.string({ unit: fc.constantFrom('a', 'é', '漢', '👩', '"', '\n', ' ', '\\', '“', '{'), maxLength: 5 }),
);
const note = fc.oneof(
  words,
  words.map((word) => word.repeat(200)),
);
export const anyRow = fc.tuple(mobile, country, words, note).map((cells) => cells.map(quote).join(','));
const faulty = fc.constantFrom('1', '1,2,3,4,5', '+6590000001,,Ann');

/** A file of people: numbers in many writings, texts of many scripts, rows too short or too long. */
export const anyPeople = fc
  .array(fc.oneof({ weight: 9, arbitrary: anyRow }, faulty), { minLength: 50, maxLength: 400 })
  .map((lines) => `mobile,country,name,note\n${lines.join('\n')}\n`);
