import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../one-in.js';
import { aJob, anSmsStep, numberOf } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

interface Person {
  readonly number: number;
  readonly spend: number;
}

async function aRunWhere(people: readonly Person[], where: unknown): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aWorkspace();
  const rows = people.map(({ number, spend }, at) => `${number < 0 ? 'n/a' : numberOf(number)},P${at},${spend}\n`);
  workspace.write('people.csv', `mobile,name,spend\n${rows.join('')}`);
  writeJob(workspace, where);
  await workspace.run();
  return { workspace, run: `out/sale/${workspace.runs()[0]}` };
}

function writeJob(workspace: Workspace, where: unknown): void {
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'people.csv', where } })] }));
}

/** Plans the filtered rows of a run as the job stands now; gives the directory of the plan. */
async function retryFiltered(workspace: Workspace, run: string): Promise<string | undefined> {
  const { stdout, stderr } = await workspace.volley('retry', run, '--only', 'filtered', '--job', 'job.yaml');
  expect(stdout, stderr).toContain('"exitCode":0');
  const { state, directory } = JSON.parse(stdout);
  return state === 'planned' ? directory : undefined;
}

const SPENT = [10, 200, 30, 400].map((spend, number) => ({ number, spend }));
const person = fc.record({ number: fc.integer({ min: -1, max: 8 }), spend: fc.integer({ min: 0, max: 5 }) });
/** Who spent so much at least, or at most. */
const anyWhere = fc.record({ is: fc.constantFrom('atLeast', 'atMost'), than: fc.integer({ min: 0, max: 5 }) });
type AnyWhere = typeof anyWhere extends fc.Arbitrary<infer Value> ? Value : never;

const written = ({ is, than }: AnyWhere) => ({ spend: { [is]: than } });
const matches = ({ is, than }: AnyWhere) => {
  return ({ spend }: Person) => (is === 'atLeast' ? spend >= than : spend <= than);
};

describe('retry --only filtered', () => {
  test('sends who is in by the `where` of now, and leaves the others to a later one', async () => {
    const { workspace, run } = await aRunWhere(SPENT, { spend: { atLeast: 300 } });
    expect(await workspace.destinations()).toEqual([numberOf(3)]);

    writeJob(workspace, { spend: { atLeast: 100 } });
    const { stdout } = await workspace.volley('retry', run, '--only', 'filtered', '--job', 'job.yaml');
    const { state, directory, left } = JSON.parse(stdout);
    expect([state, left.filtered]).toEqual(['planned', 2]);
    expect((await workspace.volley('apply', directory)).code).toBe(0);
    expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(3)]);

    writeJob(workspace, { spend: { atLeast: 20 } });
    await workspace.volley('apply', (await retryFiltered(workspace, run)) ?? '');
    expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(2), numberOf(3)]);
  });

  test('skips a number that got its message by another row of the run', async () => {
    const people = [
      { number: 1, spend: 200 },
      { number: 1, spend: 10 },
      { number: 2, spend: 10 },
    ];
    const { workspace, run } = await aRunWhere(people, { spend: { atLeast: 100 } });
    writeJob(workspace, { spend: { atLeast: 5 } });
    const directory = await retryFiltered(workspace, run);
    await workspace.volley('apply', directory ?? '');
    expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(2)]);
  });

  describe.each(['the re-import', 'the retry'] as const)(
    'with a twin that was rejected, and is fixed and re-imported: %s first',
    (first) => {
      test('the number gets one message, and the twin is a duplicate', async () => {
        const people = [
          { number: 1, spend: 10 },
          { number: -1, spend: 200 },
          { number: 2, spend: 300 },
        ];
        const { workspace, run } = await aRunWhere(people, { spend: { atLeast: 100 } });
        expect(await workspace.destinations()).toEqual([numberOf(2)]);
        const fixed = workspace.read(`${run}/1-sms.rejections.csv`).replace('n/a', numberOf(1));
        const reimport = async () => {
          workspace.write('fixed.csv', fixed);
          const input = { files: ['people.csv', 'fixed.csv'], where: { spend: { atLeast: 5 } } };
          workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input })] }));
          return (await workspace.run()).code;
        };
        const retry = async () => {
          writeJob(workspace, { spend: { atLeast: 5 } });
          const directory = (await retryFiltered(workspace, run)) ?? '';
          return workspace.volley('apply', directory);
        };

        if (first === 'the re-import') await reimport();
        await retry();
        if (first === 'the retry') await reimport();

        expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(2)]);
      });
    },
  );

  test('is refused where a plan that had such rows is pruned: a number of theirs would get a second message', async () => {
    const people = [10, 20, 30].map((spend, at) => ({ number: Math.min(at, 1), spend }));
    const { workspace, run } = await aRunWhere(people, { spend: { atMost: 10 } });
    writeJob(workspace, { spend: { atMost: 20 } });
    await workspace.volley('apply', (await retryFiltered(workspace, run)) ?? '');
    // The run stays, as its outputs are to be written again.
    rmSync(workspace.path(`${run}/summary.json`));
    expect((await workspace.volley('prune', 'job.yaml', '--older-than', '0h')).code).toBe(0);

    writeJob(workspace, { spend: { atMost: 30 } });
    const ended = await workspace.volley('retry', run, '--only', 'filtered', '--job', 'job.yaml');

    expect(readFailure(ended).error.message).toMatch(/is gone or pruned, .*might be sent twice$/);
    expect(await workspace.destinations()).toEqual([numberOf(0), numberOf(1)]);
  });

  test('takes rows that its plan refuses with them, so that their fixed rejections are sent once', async () => {
    const { workspace, run } = await aRunWhere([...SPENT, { number: -1, spend: 50 }], { spend: { atLeast: 100 } });
    writeJob(workspace, { spend: { atLeast: 20 } });
    const directory = (await retryFiltered(workspace, run)) ?? '';
    await workspace.volley('apply', directory);
    const name = directory.slice(directory.lastIndexOf('/') + 1);
    const rejections = workspace.read(`out/sale/${name}/1-sms.rejections.csv`).replace('n/a', numberOf(9));
    workspace.write('people.csv', rejections);
    await workspace.run();
    workspace.write('people.csv', rejections.replace('P4', 'P four'));
    await workspace.run();
    expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(2), numberOf(3), numberOf(9)]);
    expect(await retryFiltered(workspace, run)).toBeUndefined();
  });

  test('a rejected row that comes back and is left out by `where` belongs to the run that read it', async () => {
    const { workspace, run } = await aRunWhere([...SPENT, { number: -1, spend: 150 }], { spend: { atLeast: 100 } });
    const rejections = workspace.read(`${run}/1-sms.rejections.csv`).replace('n/a', numberOf(9));
    workspace.write('people.csv', rejections);
    writeJob(workspace, { spend: { atLeast: 300 } });
    await workspace.run();
    const other = workspace.runs().find((name) => !run.endsWith(name));
    // The same row in an edited file, under a `where` that lets it in.
    workspace.write('people.csv', rejections.replace('P4', 'P four'));
    writeJob(workspace, { spend: { atLeast: 100 } });
    await workspace.run();
    expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(3)]);

    const directory = (await retryFiltered(workspace, `out/sale/${other}`)) ?? '';
    await workspace.volley('apply', directory);
    expect(await workspace.destinations()).toEqual([numberOf(1), numberOf(3), numberOf(9)]);
  });

  test('whatever the two conditions and the rows are, and however often it is repeated: who matches one of them gets one message', async () => {
    const rows = fc.array(person, { minLength: 1, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(rows, anyWhere, anyWhere, fc.boolean(), async (people, first, second, isPlannedTwice) => {
        const { workspace, run } = await aRunWhere(people, written(first));
        writeJob(workspace, written(second));
        const directory = workspace.runs().length === 0 ? undefined : await retryFiltered(workspace, run);
        if (isPlannedTwice && directory !== undefined) expect(await retryFiltered(workspace, run)).toBe(directory);
        for (let round = 0; round < 2; round++) {
          if (directory !== undefined) await workspace.volley('apply', directory);
          await workspace.run();
          if (directory !== undefined) expect(await retryFiltered(workspace, run)).toBeUndefined();
        }
        const isIn = (each: Person) => each.number >= 0 && (matches(first)(each) || matches(second)(each));
        const numbers = new Set(people.filter(isIn).map(({ number }) => numberOf(number)));
        expect(await workspace.destinations()).toEqual([...numbers].sort());
        await workspace.close();
      }),
      { numRuns: runsOf(12) },
    );
  });
});
