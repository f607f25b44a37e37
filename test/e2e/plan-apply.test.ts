import { expect, test } from 'vitest';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, volleyIn } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees } from './account.js';

test.concurrent('input that changed under an unfinished run is refused; --ignore-changed-inputs sends the plan as it stands', async () => {
  const workspace = await aJobFor(people(30), {}, { kind: 'status-401', nth: 2 });
  const { summary } = await workspace.run();
  expect(summary.balance).toMatchObject({ accepted: 10, unprocessed: 20 });
  workspace.write('people.csv', people(30, 501));

  const [run, apply] = [await workspace.run(), await workspace.volley('apply', summary.directory)];

  expect([run.code, apply.code]).toEqual([2, 2]);
  expect(run.stderr).toMatch(/people\.csv: the file changed.*--ignore-changed-inputs/s);
  expect(workspace.requests()).toHaveLength(2);

  // Where it stops again, the command that resumes it has the flag too.
  workspace.setFaults({ kind: 'status-401', nth: 2 });
  const ignoring = ['apply', summary.directory, '--ignore-changed-inputs'];
  const stopped = await workspace.volley(...ignoring, '--no-json');
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toMatch(/^ {2}node .* apply \S+ --ignore-changed-inputs$/m);
  expect((await workspace.volley(...ignoring)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test.concurrent('standard input is read whole, kept in the run directory, and sent once', async () => {
  const workspace = await aWorkspace();
  workspace.change({ steps: [anSmsStep({ input: { files: '-' } })] });

  const { code, summary } = await workspace.finish(workspace.start(['run', 'job.yaml'], { stdin: people(15) }));

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expectLedgerAgrees(summary, await workspace.sms(), (row) => `Hi ${row.name}`);
  expect(workspace.read(`${workspace.runOf(summary.plan)}/stdin`)).toBe(people(15));
  const again = await volleyIn(workspace, { stdin: people(15) }, 'run', 'job.yaml');
  expect(JSON.parse(again.stdout)).toMatchObject({ state: 'nothing-new' });
  expect(await workspace.destinations()).toEqual(numbersOf(15));
});
