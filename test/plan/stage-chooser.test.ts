import { describe, expect, it } from 'vitest';
import { createStageChooser } from '../../src/plan/stage-chooser.js';
import { aCsvOf, anInput, anSmsStep, aPlan } from './a-plan.js';

const shares = (...percents: number[]) => percents.map((percent) => ({ size: { percent } }));

/** The stage of each row. */
function choose(rows: readonly string[], ramp: Parameters<typeof anSmsStep>[0], fileEnds: readonly number[] = []) {
  const chosen = new Map<string, number>();
  const chooser = createStageChooser(anSmsStep(ramp));
  for (const [at, row] of rows.entries()) {
    chooser?.add(row, (stage) => chosen.set(row, stage));
    if (fileEnds.includes(at)) chooser?.endFile();
  }
  chooser?.finish();
  return chosen;
}

const rowsTo = (count: number) => Array.from({ length: count }, (_, index) => `row ${index}`);
const inStage = (chosen: ReadonlyMap<string, number>, stage: number) =>
  [...chosen].flatMap(([row, each]) => (each === stage ? [row] : [])).toSorted();

describe('the stages of rows', () => {
  it.each([
    [447, [5], [23, 424]],
    [1447, [5], [73, 1374]],
    [1, [5], [1, 0]],
    [0, [5], [0, 0]],
    [3000, [0.1, 10, 50], [3, 300, 1500, 1197]],
    [7, [5, 5, 20], [1, 0, 2, 4]],
  ])('of %i rows with shares of %j are %j', (count, percents, expected) => {
    const chosen = choose(rowsTo(count), { ramp: shares(...percents) });
    expect(expected.map((_, at) => inStage(chosen, at + 1).length)).toEqual(expected);
    expect(chosen.size).toBe(count);
  });

  it('are rounded up once for all files of a step, not for each', () => {
    const rows = rowsTo(100);
    const chosen = choose(rows, { ramp: shares(5) }, [...rows.keys()]);
    expect(inStage(chosen, 1).length).toBe(5);
  });

  it('do not hang on the order of the rows, and are spread over them', () => {
    const rows = rowsTo(20_000);
    const [one, other] = [rows, rows.toReversed()].map((each) => inStage(choose(each, { ramp: shares(5) }), 1));
    expect([one?.length, (one?.filter((row) => other?.includes(row)) ?? []).length > 800]).toEqual([1000, true]);
    const inFirstHalf = one?.filter((row) => Number(row.slice(4)) < 10_000).length ?? 0;
    expect(Math.abs(inFirstHalf - 500)).toBeLessThan(5);
  });

  it('are exactly those with a number of rows, whatever their order', () => {
    const rows = rowsTo(20_000);
    const ramp = [{ size: { rows: 300 } }];
    const [one, other] = [rows, rows.toReversed()].map((each) => inStage(choose(each, { ramp }), 1));
    expect(one?.length).toBe(300);
    expect(other).toEqual(one);
  });

  it('are others for another text', () => {
    const [one, other] = ['Hello', 'Goodbye'].map((text) =>
      inStage(choose(rowsTo(500), { ramp: shares(10), text }), 1),
    );
    expect(one).not.toEqual(other);
  });
});

it('rows of a stage share requests only with each other, over several files, and each row is planned once', async () => {
  const files = { 'a.csv': aCsvOf(30), 'b.csv': aCsvOf(30, 30) };
  for (const ramp of [shares(10, 20), [{ size: { rows: 7 } }]]) {
    const step = anSmsStep({ ramp, batchSize: 8, input: anInput({ files: ['a.csv', 'b.csv'] }) });
    const made = await aPlan({ files, job: { steps: [step] } });
    const counts = new Map<number, number>();
    for (const { stage = 0, rows } of made.requests) counts.set(stage, (counts.get(stage) ?? 0) + rows);
    const expected = made.step.stages ?? [];
    expect([...counts].toSorted(([one], [other]) => one - other)).toEqual(expected.map((rows, at) => [at + 1, rows]));
    expect(expected[0]).toBe(ramp.length === 2 ? 6 : 7);
    expect(new Set(made.rows.map(({ file, row }) => `${file} ${row}`)).size).toBe(60);
  }
});
