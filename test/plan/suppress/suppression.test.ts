import { describe, expect, it } from 'vitest';
import { aCsvOf, aNumber, anInput, anSmsStep, aPlan, refusalOf, statesOf } from '../a-plan.js';

/** A job for three people, with suppression lists of these contents. */
const withLists = (...lists: (string | Uint8Array)[]) => ({
  job: { steps: [anSmsStep({ suppress: [anInput({ files: ['stop-*.csv'] })] })] },
  files: {
    'people.csv': aCsvOf(3),
    ...Object.fromEntries(lists.map((list, index) => [`stop-${index + 1}.csv`, list])),
  },
});
const suppressedBy = async (...lists: (string | Uint8Array)[]) => {
  const { rows, step } = await aPlan(withLists(...lists));
  return { states: statesOf(rows), numbers: step.suppression.map(({ read }) => read) };
};
const refusedFor = async (list: string | Uint8Array) => (await refusalOf(withLists(list))).problems;

describe('a suppression list', () => {
  it('omits the numbers of every list, however they are written', async () => {
    expect(await suppressedBy('mobile\n9000 0000\n', `id;phone\na;${aNumber(2)}\n`)).toEqual({
      states: ['suppressed', 'planned', 'suppressed'],
      numbers: [1, 1],
    });
  });

  it('counts every column that holds numbers', async () => {
    const { states } = await suppressedBy(`name,mobile,office\nAnn,${aNumber(0)},${aNumber(2)}\nBea,,${aNumber(7)}\n`);
    expect(states).toEqual(['suppressed', 'planned', 'suppressed']);
  });

  it('is read with a byte order mark before it', async () => {
    expect((await suppressedBy(`\ufeffmobile\n${aNumber(1)}\n`)).states).toEqual(['planned', 'suppressed', 'planned']);
  });

  it('omits even a row that the template could not fill', async () => {
    const plan = withLists(`mobile\n${aNumber(0)}\n`);
    const step = {
      ...plan.job.steps[0]!,
      ...anSmsStep({ text: 'Hi {{ name }}', suppress: plan.job.steps[0]!.suppress }),
    };
    const { rows } = await aPlan({
      job: { steps: [step] },
      files: { ...plan.files, 'people.csv': `mobile,name\n${aNumber(0)},\n` },
    });
    expect(statesOf(rows)).toEqual(['suppressed']);
  });
});

describe('a suppression list fails closed: the plan is refused for one', () => {
  it('that is empty', async () => {
    expect(await refusedFor('')).toHaveLength(1);
    expect(await refusedFor('mobile\n')).toEqual([
      'stop-1.csv: the suppression list holds no column of numbers, expected at least one number',
    ]);
  });

  it('that holds no number', async () => {
    expect((await refusedFor('name\nAnn\nBea\n'))[0]).toContain('holds no column of numbers');
  });

  it('without a header, whose first number would be taken for one', async () => {
    expect(await refusedFor(`${aNumber(0)}\n${aNumber(1)}\n`)).toEqual([
      'stop-1.csv:1: the first line is a number, expected a header',
    ]);
    expect((await refusedFor(`\ufeffAnn,${aNumber(0)}\nBea,${aNumber(1)}\n`))[0]).toContain('expected a header');
  });

  it.each(['6.59123E+09', '+65 9000 00', '900000000000'])(
    'without a header, whose first number %s cannot be read',
    async (damaged) => {
      expect((await refusedFor(`${damaged}\n${aNumber(1)}\n`)).join()).toContain('stop-1.csv:1');
    },
  );

  it('in which a number cannot be read, with its line', async () => {
    const problems = await refusedFor(`mobile\n${aNumber(0)}\n6.59123E+09\n${aNumber(1)}\n`);
    expect(problems).toEqual([
      'stop-1.csv:3: column "mobile" holds 6.5****E+09, which is not a number (a spreadsheet changed it), expected one',
    ]);
  });

  it('in which many cannot be read, and tells of the first five and of how many more', async () => {
    const rows = Array.from({ length: 8 }, (_, index) => `${aNumber(index)}\nx${index}\n`).join('');
    const problems = await refusedFor(`mobile\n${rows}`);
    expect(problems).toHaveLength(6);
    expect(problems.at(-1)).toBe('stop-1.csv: and 3 more cells that are not numbers');
  });

  it('with a row that cannot be read', async () => {
    const problems = await refusedFor(`mobile,name\n${aNumber(0)},Ann\n${aNumber(1)}\n`);
    expect(problems).toEqual([expect.stringMatching(/^stop-1\.csv:3: a row that cannot be read/)]);
  });

  it('that cannot be read as a whole, or is not there', async () => {
    expect(await refusedFor(Buffer.from([0x6d, 0x0a, 0xff, 0xfe, 0x0a]))).not.toEqual([]);
    expect((await refusalOf(withLists())).problems[0]).toContain('stop-*.csv: the pattern matches no file');
  });

  it('whose numbers have no country to be read in', async () => {
    const noCountry = anInput({ files: ['people.csv'], country: undefined });
    const steps = [anSmsStep({ input: noCountry, suppress: [anInput({ files: ['stop.csv'], country: undefined })] })];
    const { problems } = await refusalOf({
      job: { steps },
      files: { 'people.csv': aCsvOf(3), 'stop.csv': 'mobile\n90000000\n' },
    });
    expect(problems[0]).toContain('holds no column of numbers');
  });
});
