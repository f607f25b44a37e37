import { describe, expect, it } from 'vitest';
import {
  aContactsStep,
  aCsvOf,
  aNumber,
  anInput,
  anSmsStep,
  makeAPlan,
  type PlanOptions,
  refusalOf,
} from './a-plan.js';

const times = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');
const LONG = 'x'.repeat(1600);
const stepOf = (text = 'Hi') => ({ steps: [anSmsStep({ text })] });

async function rejectedBy(options: PlanOptions): Promise<number | undefined> {
  const { made } = await makeAPlan(options);
  return made?.plan.steps[0]?.counts.rejected;
}

describe('a file without a single number in its column', () => {
  it.each([
    ['names', times(34, () => 'Anna Tan'), 'not a phone number 34); its cells look like "xxxx xxx"'],
    ['dates', times(12, (index) => `2${index % 9}.11.2026`), 'its cells look like "99.99.9999"'],
    ['damaged numbers', times(10, () => '6.59123E+09'), 'a spreadsheet changed it 10)'],
    [
      'blanks and names',
      `${times(8, () => '""')}${times(3, () => 'Bo')}`,
      'no number in the cell 8, not a phone number 3',
    ],
  ])('is refused with one sentence that says what stands there: %s', async (_what, cells, said) => {
    const disk = (await makeAPlan()).disk;
    const files = { 'people.csv': `Mobile,name\n${cells.replace(/\n/g, ',x\n')}` };
    const { error, problems } = await refusalOf({ files, disk, jobDirectory: '/out/other' });
    expect(error.code).toBe('bad-input');
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^people\.csv: no row of \d+ has a number that can be used in column "mobile" /);
    expect(problems[0]).toContain(said);
    expect(problems[0]).not.toMatch(/Anna|24\.11|Bo\b/);
    expect(disk.list('/out/other')).toEqual([]);
  });

  it('names what to change: the country, where numbers lack it, else the column', async () => {
    const job = { steps: [anSmsStep({ input: anInput({ country: undefined }) })] };
    const local = await refusalOf({
      job,
      files: { 'people.csv': `mobile,land\n${times(10, (at) => `9123 456${at},SG`)}` },
    });
    expect(local.error.problems[0]?.hint).toMatch(/^Name their country with country or countryColumn/);
    const dates = await refusalOf({ job, files: { 'people.csv': `mobile,land\n${times(10, () => '24.11.2026,SG')}` } });
    expect(dates.error.problems[0]?.hint).toMatch(/^Name the column of the numbers .*: mobile, land\.$/);
  });

  it('is refused beside a file that is right', async () => {
    const job = { steps: [anSmsStep({ input: anInput({ files: ['*.csv'] }) })] };
    const { problems } = await refusalOf({
      job,
      files: { 'a.csv': aCsvOf(3), 'b.csv': `mobile,name\n${times(10, () => 'x,y')}` },
    });
    expect(problems).toEqual([expect.stringMatching(/^b\.csv: no row of 10 /)]);
  });

  it('is refused for contacts as for messages', async () => {
    const job = { steps: [aContactsStep()] };
    const { problems } = await refusalOf({ job, files: { 'people.csv': `mobile,name\n${times(10, () => 'Anna,y')}` } });
    expect(problems).toEqual([expect.stringContaining('no row of 10 has a number')]);
  });

  it.each([
    ['nine rows', times(9, () => 'nope,x')],
    ['one number among them', `${times(40, () => 'nope,x')}${aNumber(1)},y\n`],
    [
      'one number that is sent to twice, and one that has a fault of another kind',
      `${times(40, () => 'nope,x')}${aNumber(1)},\n`,
    ],
  ])('stays a list of rejected rows with %s', async (_what, rows) => {
    const job = stepOf('Hi {{ name }}');
    const rejected = await rejectedBy({ job, files: { 'people.csv': `mobile,name\n${rows}` } });
    expect(rejected).toBeGreaterThanOrEqual(9);
  });
});

describe('a text that is too long for most rows', () => {
  const files = (long: number, short: number) => ({
    'people.csv': `mobile,name\n${times(long, (at) => `${aNumber(at)},${LONG}`)}${times(short, (at) => `${aNumber(100 + at)},Bo`)}`,
  });
  const job = stepOf('Hi {{ name }}');

  it('is refused with one sentence that names the file, the count and the first row', async () => {
    const { problems } = await refusalOf({ job, files: files(12, 11) });
    expect(problems).toEqual([
      'people.csv: the text has more than 10 parts for 12 of 23 rows, the first of them row 1 (line 2); expected 10 at most',
    ]);
  });

  it.each([
    [12, 12],
    [9, 0],
  ])('rejects the rows alone where it is for %i, and %i others can be sent', async (long, short) => {
    expect(await rejectedBy({ job, files: files(long, short) })).toBe(long);
  });
});
