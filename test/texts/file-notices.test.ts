import { expect, test } from 'vitest';
import { listFileNotices, listLeftOut } from '../../src/texts/file-notices.js';
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

const screen = { directory: '/data' };

test('what reading a file needed is one line of it, on a terminal without what is usual', async () => {
  const step = await aStepWith(['the encoding is utf-8, by its byte order mark', ...NOTICES.slice(1), '3 blank lines']);
  const said = [...NOTICES.slice(1), '3 blank lines'].join('; ');
  expect(listFileNotices([step, step], screen)).toEqual([`people.csv: ${said}`]);
});

test('a machine has all of it, in one line too', async () => {
  expect(listFileNotices([await aStepWith(NOTICES)])).toEqual([`../people.csv: ${NOTICES.join('; ')}`]);
});

test('files that were read alike share a line, on a terminal and for a machine', async () => {
  const of = async (number: number, notices: readonly string[]) => {
    const { inputs, ...step } = await aStepWith(notices);
    return { ...step, inputs: [{ ...inputs[0]!, file: `${number}.csv`, path: `/data/${number}.csv` }] };
  };
  const many = [1, 2, 3, 4, 5, 6, 7].map((number) => of(number, NOTICES.slice(0, number === 2 ? 1 : 2)));
  const steps = await Promise.all(many);
  const said = [
    `1.csv, 3.csv, 4.csv, 5.csv, 6.csv, and 1 more: ${NOTICES.slice(0, 2).join('; ')}`,
    `2.csv: ${NOTICES[0]}`,
  ];
  expect(listFileNotices(steps, screen)).toEqual(said);
  expect(listFileNotices(steps)).toEqual(said);
});

test('a file as everybody expects it needs no line', async () => {
  const plain = ['the encoding is utf-8, by its byte order mark', 'the delimiter is ",", found from the header'];
  expect(listFileNotices([await aStepWith(plain), await aStepWith([])], screen)).toEqual([]);
});

test('a file that two steps omit for one reason is one line, and one file where only their number is said', () => {
  const sent = (file: string) => ({ file, reason: 'was already sent by run r1' });
  const names = ['a', 'b', 'c'];
  expect(listLeftOut([...names, ...names].map(sent))).toEqual(
    names.map((name) => `${name} was already sent by run r1`),
  );
  const many = ['1', '2', '3', '4', '5', '6'];
  expect(listLeftOut([...many, ...many].map(sent))).toEqual([expect.stringMatching(/^6 files are skipped/)]);
});
