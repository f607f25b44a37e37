import { describe, expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { findLeaksOfJob, holdsNumber, NUMBER } from './canaries.js';

const DIGITS = NUMBER.slice(1);
const NATIONAL = NUMBER.slice(3);
const sms = (more: object = {}) => ({
  kind: 'sms',
  input: { files: 'people.*' },
  destination: 'mobile',
  template: { text: 'Hi {{ name | default: "you" }}' },
  ...more,
});
const contacts = {
  kind: 'contacts',
  input: { files: 'people.*' },
  fields: { msisdn: 'mobile' },
  customAttributes: 'rest',
};

type Planted = Readonly<{ files: Readonly<Record<string, string>>; steps?: readonly object[] }>;
const inCsv = (text: string, ...steps: object[]): Planted => ({ files: { 'people.csv': text }, steps });
const inNdjson = (text: string): Planted => ({ files: { 'people.ndjson': text } });
const inList = (text: string): Planted => ({
  files: { 'people.csv': 'name,mobile\nAnn,+6591234567\n', 'list.csv': text },
  steps: [sms({ suppress: { files: 'list.csv' } })],
});

/** Where a number of a person may stand, rightly or by mistake. */
const PLACES: Readonly<Record<string, Planted>> = {
  'a good cell': inCsv(`name,mobile\nAnn,${NUMBER}\n`),
  'a cell as people write it': inCsv(`name,mobile\nAnn,+65 9000-9999\n`),
  'a cell that lost its plus': inCsv(`name,mobile\nAnn,${DIGITS}\n`),
  'a cell that a spreadsheet shortened': inCsv('name,mobile\nAnn,6.590009999E+09\n'),
  'a cell with a decimal': inCsv(`name,mobile\nAnn,${DIGITS}.0\n`),
  'a cell with two numbers': inCsv(`name,mobile\nAnn,${NUMBER}/${NUMBER}\n`),
  'a cell with an extension': inCsv(`name,mobile\nAnn,${NUMBER} ext. 12\n`),
  'a cell with letters for digits': inCsv(`name,mobile\nAnn,+659ooo9999\nBen,${NUMBER}x\n`),
  'a cell twice': inCsv(`name,mobile\nAnn,${NUMBER}\nBen,${NUMBER}\n`),
  'the cell of a name': inCsv(`name,mobile\n${NUMBER},${NUMBER}\n`),
  'the cell of a country': inCsv(
    `mobile,country\n${NATIONAL},${NUMBER}\n`,
    sms({ input: { files: 'people.csv', countryColumn: 'country' } }),
  ),
  'a row that is too long': inCsv(`name,mobile\nAnn,${NUMBER},${NUMBER}\n`),
  'a row whose quote never closes': inCsv(`name,mobile\nAnn,"${NUMBER}\n`),
  'a file without a header': inCsv(`${NUMBER},Ann\n${NUMBER},Ben\n`),
  'a file without a header, in national form': inCsv(`${NATIONAL},Ann\n${DIGITS},Ben\n`),
  'a name of a column': inCsv(`mobile,${NUMBER}\n${NUMBER},x\n`, contacts),
  'a name that stands twice': inCsv(`mobile,${NATIONAL},${NATIONAL}\n${NUMBER},x,y\n`),
  'a variable of the template': inCsv(`mobile\n${NUMBER}\n`, sms({ template: { text: `{{ ["${NUMBER}"] }}` } })),
  'the text of the template': inCsv(`mobile\n${NUMBER}\n`, sms({ template: { text: `Call ${NUMBER}` } })),
  'a number of NDJSON': inNdjson(`{"mobile":${DIGITS}}\n`),
  'a number of NDJSON that loses digits': inNdjson(`{"mobile":${DIGITS}123456789}\n`),
  'a key of NDJSON that stands twice': inNdjson(`{"${NUMBER}":1,"${NUMBER}":2,"mobile":"${NUMBER}"}\n`),
  'a line that is no JSON': inNdjson(`{"mobile":"${NUMBER}"}\n{"mobile":"${NUMBER}\n`),
  'a suppression list': inList(`mobile\n${NUMBER}\n`),
  'a suppression list, lost plus': inList(`mobile\n${NUMBER}\n${DIGITS}\n`),
  'a suppression list, two numbers': inList(`mobile\n${NUMBER}\n${NUMBER} or ${NUMBER}\n`),
  'a suppression list without a header': inList(`${NUMBER}\n${NUMBER}\n`),
  'the name of a file': { files: { [`people.${NUMBER}.csv`]: `name,mobile\n"Ann\n` } },
  'the name of a file that is not there': { files: {}, steps: [sms({ input: { files: `${NUMBER}.csv` } })] },
  'a sender that is too long': { files: {}, steps: [sms({ template: { source: `${NUMBER}${DIGITS}`, text: 'Hi' } })] },
};

function findLeaksOf({ files, steps = [] }: Planted, isLeak = holdsNumber): Promise<string[]> {
  const job = { service: { sandbox: true }, steps: steps.length > 0 ? steps : [sms()], output: 'out' };
  return findLeaksOfJob(JSON.stringify(job), files, { isLeak });
}

test.each(oneIn(4, Object.keys(PLACES)))('a number of a person in %s stands in no log and no error', async (place) => {
  expect(await findLeaksOf(PLACES[place]!)).toEqual([]);
});

describe('the text of a message', () => {
  const TEXT = 'Quietly, quietly';
  test.each([
    ['good', TEXT, {}],
    ['too long', TEXT.repeat(200), {}],
    ['outside GSM-7 where that is asked for', `${TEXT} 漢`, { encoding: 'GSM7' }],
    ['without the cell that it needs', `${TEXT} {{ note }}`, {}],
    ['without the column that it needs', `${TEXT} {{ other }}`, {}],
    ['with a date that is none', `${TEXT} {{ name | date: "%d" }}`, {}],
  ])('that is %s stands in no log and no error', async (_how, text, more) => {
    const people = `name,mobile,note\n${TEXT},+6591234567,\nBen,+6591234568,x\n`;
    const leaks = await findLeaksOf(inCsv(people, sms({ template: { text, ...more } })), (said) =>
      said.includes('uietly'),
    );
    expect(leaks).toEqual([]);
  });
});
