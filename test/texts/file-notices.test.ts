import { expect, test } from 'vitest';
import { formatFileNotices, listFileNotices } from '../../src/texts/file-notices.js';
import { aPlan } from '../plan/a-plan.js';

const NOTICES = [
  'the encoding is utf-16le, by its byte order mark',
  'the delimiter is ";", found from the header',
  'its column "MOBILE" is taken for "mobile"',
  'its column "First Name" is taken for "first_name"',
];

async function aStepWith(notices: readonly string[]) {
  const { plan } = await aPlan();
  const [step] = plan.steps;
  const [input] = step!.inputs;
  return { ...step!, inputs: [{ ...input!, file: '../people.csv', path: '/data/people.csv', notices }] };
}

const screen = { columns: 100, directory: '/data' };

test('what reading a file needed is one line of it, on a terminal in a few words', async () => {
  const step = await aStepWith([...NOTICES, '3 blank lines']);
  expect(formatFileNotices([step, step], screen)).toEqual([
    'people.csv: utf-16le (byte order mark); delimiter ";"; 3 blank lines; 2 columns by similar names',
  ]);
  expect(formatFileNotices([step], { ...screen, columns: 40 })).toEqual(['people.csv: utf-16le (byte order mark);…']);
});

test('a machine has all of it, in one line a file too', async () => {
  expect(listFileNotices([await aStepWith(NOTICES)])).toEqual([`../people.csv: ${NOTICES.join('; ')}`]);
});

test('a file as everybody expects it needs no line', async () => {
  const plain = ['the encoding is utf-8, by its byte order mark', 'the delimiter is ",", found from the header'];
  expect(formatFileNotices([await aStepWith(plain), await aStepWith([])], screen)).toEqual([]);
});
