import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runsOf } from '../one-in.js';
import { anSmsStep, numberOf } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';

interface Person {
  /** Less than zero: none. */
  readonly number: number;
  readonly spend: number;
}

const JOB = ['--job', 'job.yaml'];
const atLeast = (spend: number) => ({ spend: { atLeast: spend } });
/** Who spent so much, in this order; the last has no number. */
const spent = (...spends: number[]) => spends.map((spend, number) => ({ number, spend }));
const nobody = (spend: number) => ({ number: -1, spend });
const numbers = (...persons: number[]) => persons.map(numberOf);

async function aRunWhere(people: readonly Person[], where: unknown): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aWorkspace();
  const rows = people.map(({ number, spend }, at) => `${number < 0 ? 'n/a' : numberOf(number)},P${at},${spend}\n`);
  workspace.write('people.csv', `mobile,name,spend\n${rows.join('')}`);
  filterBy(workspace, where);
  await workspace.run();
  return { workspace, run: workspace.firstRun() };
}

function filterBy(workspace: Workspace, where: unknown, files = ['people.csv']): void {
  workspace.change({ steps: [anSmsStep({ input: { files, where } })] });
}

/** Sends the filtered rows of a run as the job stands now; gives the directory of their plan. */
async function resend(workspace: Workspace, run: string): Promise<string> {
  return (await workspace.resend(run, 'filtered', ...JOB)).summary.directory;
}

/** The rejections of a run, fixed. */
const fixedOf = (workspace: Workspace, run: string, person: number) => {
  const name = run.slice(run.lastIndexOf('/') + 1);
  return workspace.read(`out/sale/${name}/1-sms.rejections.csv`).replace('n/a', numberOf(person));
};

describe('retry --only filtered', () => {
  test('sends who is in by the `where` of now, and leaves the others to a later one', async () => {
    const { workspace, run } = await aRunWhere(spent(10, 200, 30, 400), atLeast(300));
    expect(await workspace.destinations()).toEqual(numbers(3));

    filterBy(workspace, atLeast(100));
    const { state, directory, left } = await workspace.retry(run, 'filtered', ...JOB);
    expect([state, left.filtered]).toEqual(['planned', 2]);
    expect((await workspace.volley('apply', directory)).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbers(1, 3));

    filterBy(workspace, atLeast(20));
    await resend(workspace, run);
    expect(await workspace.destinations()).toEqual(numbers(1, 2, 3));
  });

  test('skips a number that got its message by another row of the run', async () => {
    const people = [
      { number: 1, spend: 200 },
      { number: 1, spend: 10 },
      { number: 2, spend: 10 },
    ];
    const { workspace, run } = await aRunWhere(people, atLeast(100));
    filterBy(workspace, atLeast(5));
    await resend(workspace, run);
    expect(await workspace.destinations()).toEqual(numbers(1, 2));
  });

  test.each(['the re-import', 'the retry'] as const)(
    'with a twin that was rejected, and is fixed and re-imported: %s first: the number gets one message, and the twin is a duplicate',
    async (first) => {
      const people = [{ number: 1, spend: 10 }, nobody(200), { number: 2, spend: 300 }];
      const { workspace, run } = await aRunWhere(people, atLeast(100));
      const reimport = () => {
        workspace.write('fixed.csv', fixedOf(workspace, run, 1));
        filterBy(workspace, atLeast(5), ['people.csv', 'fixed.csv']);
        return workspace.run();
      };
      if (first === 'the re-import') await reimport();
      filterBy(workspace, atLeast(5));
      await resend(workspace, run);
      if (first === 'the retry') await reimport();

      expect(await workspace.destinations()).toEqual(numbers(1, 2));
    },
  );

  test('is refused where a plan that had such rows is pruned: a number of theirs would get a second message', async () => {
    const people = [10, 20, 30].map((spend, at) => ({ number: Math.min(at, 1), spend }));
    const { workspace, run } = await aRunWhere(people, { spend: { atMost: 10 } });
    filterBy(workspace, { spend: { atMost: 20 } });
    await resend(workspace, run);
    // The run stays, as its outputs are to be written again.
    rmSync(workspace.path(`${run}/summary.json`));
    expect((await workspace.volley('prune', 'job.yaml', '--older-than', '0h')).code).toBe(0);

    filterBy(workspace, { spend: { atMost: 30 } });
    const retry = ['retry', run, '--only', 'filtered', ...JOB];
    await workspace.expectRefused(retry, 2, 'plan-mismatch', /is gone or pruned, .*might be sent twice$/);
    expect(await workspace.destinations()).toEqual(numbers(0, 1));
  });

  test('takes rows that its plan refuses with them, so that their fixed rejections are sent once', async () => {
    const { workspace, run } = await aRunWhere([...spent(10, 200, 30, 400), nobody(50)], atLeast(100));
    filterBy(workspace, atLeast(20));
    const fixed = fixedOf(workspace, await resend(workspace, run), 9);
    for (const text of [fixed, fixed.replace('P4', 'P four')]) {
      workspace.write('people.csv', text);
      await workspace.run();
    }
    expect(await workspace.destinations()).toEqual(numbers(1, 2, 3, 9));
    expect(await workspace.retry(run, 'filtered', ...JOB)).toMatchObject({ state: 'nothing-to-retry' });
  });

  test('a rejected row that comes back and is left out by `where` belongs to the run that read it', async () => {
    const { workspace, run } = await aRunWhere([...spent(10, 200, 30, 400), nobody(150)], atLeast(100));
    const fixed = fixedOf(workspace, run, 9);
    workspace.write('people.csv', fixed);
    filterBy(workspace, atLeast(300));
    const { summary: other } = await workspace.run();
    // The same row in an edited file, under a `where` that lets it in.
    workspace.write('people.csv', fixed.replace('P4', 'P four'));
    filterBy(workspace, atLeast(100));
    await workspace.run();
    expect(await workspace.destinations()).toEqual(numbers(1, 3));

    await resend(workspace, other.directory);
    expect(await workspace.destinations()).toEqual(numbers(1, 3, 9));
  });

  test('whatever the two conditions and the rows are, and however often it is repeated: who matches one of them gets one message', async () => {
    const person = fc.record({ number: fc.integer({ min: -1, max: 8 }), spend: fc.integer({ min: 0, max: 5 }) });
    const rows = fc.array(person, { minLength: 1, maxLength: 14 });
    /** Who spent so much at least, or at most. */
    const anyWhere = fc.record({ is: fc.constantFrom('atLeast', 'atMost'), than: fc.integer({ min: 0, max: 5 }) });
    await fc.assert(
      fc.asyncProperty(rows, anyWhere, anyWhere, fc.boolean(), async (people, first, second, isPlannedTwice) => {
        const { workspace, run } = await aRunWhere(people, { spend: { [first.is]: first.than } });
        filterBy(workspace, { spend: { [second.is]: second.than } });
        const retry = async (): Promise<string | undefined> => {
          const { state, directory } = await workspace.retry(run, 'filtered', ...JOB);
          return state === 'planned' ? directory : undefined;
        };
        const directory = workspace.runs().length === 0 ? undefined : await retry();
        if (isPlannedTwice && directory !== undefined) expect(await retry()).toBe(directory);
        for (let round = 0; round < 2; round++) {
          if (directory !== undefined) await workspace.volley('apply', directory);
          await workspace.run();
          if (directory !== undefined) expect(await retry()).toBeUndefined();
        }
        const isIn = ({ number, spend }: Person) =>
          number >= 0 && [first, second].some(({ is, than }) => (is === 'atLeast' ? spend >= than : spend <= than));
        const sent = new Set(people.filter(isIn).map(({ number }) => numberOf(number)));
        expect(await workspace.destinations()).toEqual([...sent].sort());
        await workspace.close();
      }),
      { numRuns: runsOf(12) },
    );
  });
});
