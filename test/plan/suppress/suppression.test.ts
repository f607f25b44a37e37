import { describe, expect, it } from 'vitest';
import { aCsvOf, aNumber, anInput, anSmsStep, aPlan, refusalOf, statesOf } from '../a-plan.js';

/** A job for three people, with suppression lists of these contents. */
const withLists = (...lists: (string | Uint8Array)[]) => {
  const files = Object.fromEntries(lists.map((list, index) => [`stop-${index + 1}.csv`, list]));
  const steps = [anSmsStep({ suppress: [anInput({ files: ['stop-*.csv'] })] })];
  return { job: { steps }, files: { 'people.csv': aCsvOf(3), ...files } };
};
const suppressedBy = async (...lists: (string | Uint8Array)[]) => {
  const { rows, step } = await aPlan(withLists(...lists));
  return { states: statesOf(rows), numbers: step.suppression.map(({ read }) => read) };
};

describe('a suppression list', () => {
  it('omits the numbers of every list, however they are written', async () => {
    const expected = { states: ['suppressed', 'planned', 'suppressed'], numbers: [1, 1] };
    expect(await suppressedBy('mobile\n9000 0000\n', `id;phone\na;${aNumber(2)}\n`)).toEqual(expected);
  });

  it('counts every column that holds numbers', async () => {
    const { states } = await suppressedBy(`name,mobile,office\nAnn,${aNumber(0)},${aNumber(2)}\nBea,,${aNumber(7)}\n`);
    expect(states).toEqual(['suppressed', 'planned', 'suppressed']);
  });

  it.each([
    // Read in Austria it is a mobile phone, too.
    ['with the + that a spreadsheet took', '6642345678', 'AT', '+66 4 2345678'],
    ['in the country of the recipients, where the list is said to be of another', '0664 1234567', 'DE', '0664 1234567'],
  ])('omits whom its numbers without + may be as well: %s', async (_, number, country, person) => {
    const input = anInput({ files: ['people.csv'], country: 'AT' });
    const suppress = [anInput({ files: ['stop.csv'], country })];
    const files = { 'people.csv': `mobile\n${person}\n0664 7654321\n`, 'stop.csv': `mobile\n${number}\n` };
    const { rows, step } = await aPlan({ job: { steps: [anSmsStep({ input, suppress })] }, files });
    expect(statesOf(rows)).toEqual(['suppressed', 'planned']);
    expect(step.suppression).toMatchObject([{ read: 1, found: 1, notFound: 0, withoutPlus: 1, readAs: country }]);
  });

  it('is read with a byte order mark before it', async () => {
    expect((await suppressedBy(`\ufeffmobile\n${aNumber(1)}\n`)).states).toEqual(['planned', 'suppressed', 'planned']);
  });

  it('omits even a row that the template could not fill', async () => {
    const step = anSmsStep({ text: 'Hi {{ name }}', suppress: [anInput({ files: ['stop.csv'] })] });
    const files = { 'people.csv': `mobile,name\n${aNumber(0)},\n`, 'stop.csv': `mobile\n${aNumber(0)}\n` };
    expect(statesOf((await aPlan({ job: { steps: [step] }, files })).rows)).toEqual(['suppressed']);
  });
});

describe('a suppression list fails closed: the plan is refused for one', () => {
  const MANY = Array.from({ length: 8 }, (_, index) => `${aNumber(index)}\nx${index}\n`).join('');
  const NO_COLUMN = 'stop-1.csv: the list holds no column of numbers, expected at least one number';
  const NO_HEADER = 'stop-1.csv:1: the first line is a number, expected a header';
  const CHANGED = 'column "mobile" holds 6.5****E+09, which is not a number (a spreadsheet changed it), expected one';

  it.each<[how: string, list: string | Uint8Array, ...problems: unknown[]]>([
    ['that is empty', '', expect.any(String)],
    ['that has a header alone', 'mobile\n', NO_COLUMN],
    ['that holds no number', 'name\nAnn\nBea\n', NO_COLUMN],
    ['without a header, whose first number would be taken for one', `${aNumber(0)}\n${aNumber(1)}\n`, NO_HEADER],
    ['without a header, that begins with a mark', `\ufeffAnn,${aNumber(0)}\nBea,${aNumber(1)}\n`, NO_HEADER],
    ...['6.59123E+09', '+65 9000 00', '900000000000', '＋６５９０００００００'].map(
      (damaged): [string, string, unknown] => [
        `without a header, whose first number ${damaged} cannot be read`,
        `${damaged}\n${aNumber(1)}\n`,
        expect.stringContaining('stop-1.csv:1'),
      ],
    ),
    [
      'in which a number cannot be read, with its line',
      `mobile\n${aNumber(0)}\n6.59123E+09\n${aNumber(1)}\n`,
      `stop-1.csv:3: ${CHANGED}`,
    ],
    [
      'in which many cannot be read, and tells of the first five and of how many more',
      `mobile\n${MANY}`,
      ...[3, 5, 7, 9, 11].map((line) => expect.stringContaining(`stop-1.csv:${line}: column "mobile"`)),
      'stop-1.csv: and 3 more cells that are not numbers',
    ],
    ...['24.11.2026', '2026-11-24 10:00'].map((date): [string, string, string] => [
      `with a date where its numbers stand: ${date}`,
      `mobile;am\n${aNumber(0)};${date}\n${date};${date}\n`,
      `stop-1.csv:3: column "mobile" holds ${date}, which is not a number (a date), expected one`,
    ]),
    [
      'with a row that cannot be read',
      `mobile,name\n${aNumber(0)},Ann\n${aNumber(1)}\n`,
      expect.stringMatching(/^stop-1\.csv:3: a row that cannot be read/),
    ],
    ...[
      ['+65 9000 0000'],
      ['9000 0000 / 9000 0001', 4],
      ['Ann 2: +65 9000 0000', 4],
      ['００６５９０００００００'],
      ['＋６５９０００００００', 4],
    ].map(([cell, line]): [string, string, ...unknown[]] => [
      `in which a few cells of a column hold numbers, such as ${cell}, and another column all`,
      `office,mobile\n${aNumber(0)},shop\n${aNumber(1)},shop\n${aNumber(2)},${cell}\n`,
      ...[2, 3, line].flatMap((at) =>
        at === undefined ? [] : expect.stringContaining(`stop-1.csv:${at}: column "mobile" holds`),
      ),
    ]),
    ['that cannot be read as a whole', Buffer.from([0x6d, 0x0a, 0xff, 0xfe, 0x0a]), expect.any(String)],
  ])('%s', async (_, list, ...problems) => {
    expect((await refusalOf(withLists(list))).problems).toEqual(problems);
  });

  it('that is not there', async () => {
    expect((await refusalOf(withLists())).problems[0]).toContain('stop-*.csv: the pattern matches no file');
  });

  it('whose numbers lost their +, and would be others in the country of the list', async () => {
    const german = anInput({ files: ['people.csv'], country: 'DE' });
    const { problems } = await refusalOf({
      job: { steps: [anSmsStep({ input: german, suppress: [anInput({ files: ['stop.csv'], country: undefined })] })] },
      files: { 'people.csv': 'mobile\n+436641234567\n', 'stop.csv': 'mobile\n436641234567\n' },
    });
    expect(problems).toEqual([
      'stop.csv:2: column "mobile" holds 43********67, which is not a number (the number lost its +), expected one',
    ]);
  });

  it.each([
    ['whose numbers have no country to be read in', 'mobile\n90000000\n', 'holds no column of numbers'],
    [
      'of which one number has none, in other digits',
      `office,mobile\n${aNumber(0)},０９０００００００\n`,
      'no + and no country',
    ],
  ])('%s', async (_, list, said) => {
    const noCountry = anInput({ files: ['people.csv'], country: undefined });
    const steps = [anSmsStep({ input: noCountry, suppress: [anInput({ files: ['stop.csv'], country: undefined })] })];
    const { problems } = await refusalOf({ job: { steps }, files: { 'people.csv': aCsvOf(3), 'stop.csv': list } });
    expect(problems[0]).toContain(said);
  });

  it.each([
    ['a cell that is no number', `mobile\n${aNumber(0)}\nx1\n`, 'Correct it, or take the column out'],
    ['numbers without a country', 'mobile\n90000000\n', 'Write them with +, or state country in the input'],
    ['numbers in few cells of a column', 'mobile\nx1\nx2\n', 'Correct the cells'],
    ['a header alone', 'mobile\n', 'If no one is to be suppressed'],
  ])('with %s, and says what to do, for a list of optOuts too', async (_, list, hint) => {
    const input = anInput({ files: ['people.csv'], country: undefined });
    const suppress = [anInput({ files: ['stop.csv'], country: undefined })];
    const job = { steps: [anSmsStep({ input, suppress })] };
    const { error } = await refusalOf({ job, files: { 'people.csv': aCsvOf(3), 'stop.csv': list } });
    expect(error.problems).toMatchObject([{ hint: expect.stringContaining(hint) }]);
  });
});
