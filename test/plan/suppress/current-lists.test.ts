import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { OPT_OUT_HEADER } from '../../../src/domain/opt-out-line.js';
import { listInputs } from '../../../src/input/inputs.js';
import { readRecords } from '../../../src/input/read-records.js';
import { digestContent, digestInput } from '../../../src/input/text/byte-source.js';
import { NumberSet } from '../../../src/normalize/number/number-set.js';
import { ProblemList } from '../../../src/plan/problems.js';
import { openCurrentLists } from '../../../src/plan/suppress/current-lists.js';
import { nodeFiles } from '../../../src/storage/files.js';
import { FakeClock } from '../../run/fake-clock.js';
import { aFolder, aNumber, anInput, anSmsStep } from '../a-plan.js';

const line = (person: number, what: 'out' | 'in', hour: string) =>
  `${aNumber(person)},${what},2026-11-26T${hour}:00:00.000Z,ann,\n`;
type Step = ReturnType<typeof anSmsStep>;
const listOf = (...lines: string[]) => `${OPT_OUT_HEADER}${lines.join('')}`;

function currentLists(suppression: readonly object[], step: Step, directory: string, clock = new FakeClock()) {
  const reader = { listInputs, digestInput, digestContent, readRecords };
  return openCurrentLists(
    { id: 'p', steps: [{ number: 1, suppression }] } as never,
    { steps: [step] },
    directory,
    async () => ({ files: nodeFiles, clock, reader, gather: () => new ProblemList() }),
  );
}

/** The lists of a step that is sent, of which the plan read `first`; says who of P1 to P3 is out, after each content. */
async function outAfter(...contents: string[]): Promise<number[][]> {
  const directory = aFolder({ 'list.csv': contents[0] ?? '' });
  const path = join(directory, 'list.csv');
  const { sha256 } = await digestInput(path);
  const figures = { columns: [], read: 0, found: 0, notFound: 0, withoutPlus: 0, readAs: null, ambiguous: 0 };
  const suppression = [{ file: path, path, sha256, ...figures }];
  const step = anSmsStep({ suppress: [anInput({ files: [path] })] });
  const lists = await currentLists(suppression, step, directory);
  const isOut = (person: number) => lists?.find({ step: 1, number: Number(aNumber(person)) }) !== undefined;
  const out: number[][] = [];
  for (const content of contents) {
    writeFileSync(path, content);
    await lists?.refresh();
    out.push([1, 2, 3].filter(isOut));
  }
  return out;
}

describe('of a list that changes while its plan is sent', () => {
  test('who came onto it stays out where an older copy is saved over it', async () => {
    const old = listOf(line(0, 'out', '08'));
    expect(await outAfter(old, `${old}${line(1, 'out', '09')}`, old)).toEqual([[], [1], [1]]);
    const edited = listOf(line(2, 'out', '07'), line(0, 'out', '08'));
    expect(await outAfter(old, edited, old, `${old}${line(3, 'out', '09')}`)).toEqual([[], [2], [2], [2, 3]]);
  });

  test('so it is of a list that another program writes', async () => {
    const written = (...persons: number[]) => `mobile\n${persons.map((person) => `${aNumber(person)}\n`).join('')}`;
    expect(await outAfter(written(0), written(0, 1), written(0, 2))).toEqual([[], [1], [1, 2]]);
  });

  test('so does who is in again by a later line: the next process lets them in', async () => {
    const old = listOf(line(1, 'out', '05'), line(1, 'in', '06'));
    const grown = `${old}${line(1, 'out', '09')}`;
    expect(await outAfter(old, grown, old)).toEqual([[], [1], [1]]);
    expect(await outAfter(old, grown, `${grown}${line(1, 'in', '10')}`)).toEqual([[], [1], [1]]);
    expect(await outAfter(old, grown, listOf(line(1, 'in', '10'), line(2, 'out', '09')))).toEqual([[], [1], [1, 2]]);
  });
});

test.each([
  ['is gone', () => undefined],
  ['is half written', () => 'mobile\n+6590'],
])(
  'a list that %s for a moment, as another program writes it, is tried again, and ends the run only if it stays so',
  async (_, spoilt) => {
    const path = join(aFolder({ 'list.csv': `mobile\n${aNumber(0)}\n` }), 'list.csv');
    const step = anSmsStep({ suppress: [anInput({ files: [path] })] });
    const write = (text = spoilt()) => (text === undefined ? rmSync(path) : writeFileSync(path, text));
    const clock = new FakeClock();
    const current = await currentLists([], step, dirname(path), clock);
    await current?.refresh();
    write();
    const sleep = vi.spyOn(clock, 'sleep').mockImplementationOnce(async () => write(`mobile\n${aNumber(1)}\n`));
    await clock.advance(2000);
    await current?.refresh();
    expect(current?.nameList({ step: 1, number: Number(aNumber(1)) })).toBeDefined();
    expect(sleep).toHaveBeenCalledTimes(1);
    write();
    sleep.mockImplementation(async () => {});
    await expect(current?.refresh()).rejects.toThrow();
    expect(sleep).toHaveBeenCalledTimes(5);
  },
);

/** How often a number is looked up for one row, while each of so many lists has grown since the plan; and the list that is named. */
async function countLooks(lists: number) {
  const names = Array.from({ length: lists }, (_, at) => `list-${at}.csv`);
  const directory = aFolder(Object.fromEntries(names.map((name, at) => [name, `mobile\n${aNumber(at)}\n`])));
  const step = anSmsStep({ suppress: [anInput({ files: names.map((name) => join(directory, name)) })] });
  const current = await currentLists([], step, directory);
  await current?.refresh();
  const find = vi.spyOn(NumberSet.prototype, 'find');
  const named = current?.nameList({ step: 1, number: Number(aNumber(lists - 1)) });
  const looks = find.mock.calls.length;
  find.mockRestore();
  return { looks, named };
}

test('a row is looked up as often in a hundred lists that grew as in two, and the one that has it is named', async () => {
  const [few, many] = [await countLooks(2), await countLooks(100)];
  expect(many.looks).toBe(few.looks);
  const expected = [expect.stringMatching(/list-1\.csv$/), expect.stringMatching(/list-99\.csv$/)];
  expect([few.named, many.named]).toEqual(expected);
});
