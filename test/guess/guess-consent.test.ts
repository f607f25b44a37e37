import { expect, test } from 'vitest';
import { guessConsent } from '../../src/guess/guess-job.js';
import { isOptOutFile } from '../../src/guess/sampled-columns.js';
import { aColumn, aSample, beside } from './a-sample.js';

const consentOf = (...columns: string[][][]) => guessConsent(aSample(beside(...columns)));

test('the column about messages to a phone comes first', () => {
  const found = consentOf(
    aColumn('Accepts Email Marketing', 10, () => 'yes'),
    aColumn('Newsletter', 10, () => 'Ja'),
    aColumn('SMS consent', 10, (index) => (index < 4 ? 'TRUE' : 'FALSE')),
  );

  expect(found.map(({ column, value, rows, isOfMail }) => [column, value, rows, isOfMail])).toEqual([
    ['SMS consent', 'true', 4, false],
    ['Newsletter', 'ja', 10, false],
    ['Accepts Email Marketing', 'yes', 10, true],
  ]);
});

test('a column of refusals allows those who said no, or nothing', () => {
  expect(consentOf(aColumn('Do Not Call', 10, (index) => (index < 3 ? '1' : '0')))).toMatchObject([
    { value: '0', isBlank: false, rows: 7 },
  ]);
  expect(consentOf(aColumn('Unsubscribed', 10, (index) => (index < 3 ? 'yes' : '')))).toMatchObject([
    { value: undefined, isBlank: true, rows: 7 },
  ]);
});

test('HubSpot says who is a contact of marketing', () => {
  const status = (index: number) => (index < 4 ? 'Non-marketing contact' : 'Marketing contact');

  expect(consentOf(aColumn('Marketing contact status', 10, status))).toMatchObject([
    { value: 'marketing contact', rows: 6 },
  ]);
});

test('a column of times or notes is not one of consent, whatever its name', () => {
  expect(consentOf(aColumn('OPTIN_TIME', 10, () => '2026-01-01 03:04:05'))).toEqual([]);
});

test('where no one agreed there is no value', () => {
  expect(consentOf(aColumn('Einwilligung', 10, () => 'nein'))).toMatchObject([{ value: undefined, rows: 0 }]);
});

test.each([
  'opt-outs.csv',
  'OptOut_2026.csv',
  'unsubscribed_members.csv',
  'suppressions.csv.gz',
  'Abmeldeliste.csv',
  'abmeldungen.csv',
])('%s is a list of people who must get no message', (name) => {
  expect(isOptOutFile(name)).toBe(true);
});

test.each(['people.csv', 'options.csv', 'opt-outs.yaml', 'subscribed_members.csv'])('%s is not such a list', (name) => {
  expect(isOptOutFile(name)).toBe(false);
});
