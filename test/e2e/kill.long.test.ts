import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { until } from './command.js';

test.concurrent('killed in the middle, with garbage behind its journal: the same command sends the rest, and each message is sent once', async () => {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 60 });
  workspace.write('people.csv', people(60));
  workspace.writeJob(aJob(workspace));
  const open = await killAfter(workspace, 3);
  workspace.append(journalOf(workspace), '{"crc":"0bad0bad","epoch":1,"se');
  workspace.setFaults();

  const { code, summary, stderr } = await workspace.run();

  expect(stderr).toContain('are incomplete and ignored');
  expect(code).toBe(open.sms.length > 0 ? 3 : 0);
  await expectSentOnce(workspace, summary, { inDoubt: open.sms, count: 60 });
});

test.concurrent('killed six times, in contacts and in messages: each message is sent once, each contact made once, in doubt is what was open', async () => {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 40 });
  workspace.write('people.csv', people(60));
  const contacts = aContactsStep({ limits: { requestsPerSecond: 1000, concurrency: 4 } });
  const sms = anSmsStep({ batchSize: 2, limits: { requestsPerSecond: 1000, concurrency: 3 } });
  workspace.writeJob(aJob(workspace, { steps: [contacts, sms] }));
  await killAfter(workspace, 5, 'contacts');
  await killAfter(workspace, 9, 'contacts');
  const inDoubt: number[] = [];
  for (const after of [1, 6, 5, 7]) inDoubt.push(...(await killAfter(workspace, after, 'sms')).sms);
  workspace.setFaults();

  const { summary } = await workspace.run();

  expect(inDoubt.length).toBeGreaterThan(0);
  await expectSentOnce(workspace, summary, { inDoubt, count: 60 });
  expect(summary.steps[0]?.balance).toMatchObject({ accepted: 60, inDoubt: 0 });
  const made = (await workspace.contacts()).filter((entry) => entry.outcome === 'created');
  expect(made).toHaveLength(60);
});

test.concurrent('killed as soon as it has the lock, a run is begun again', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(20));
  workspace.writeJob(aJob(workspace));
  const running = workspace.start(['run', 'job.yaml']);
  await until(() => existsSync(workspace.path('out/sale')));
  running.signal('SIGKILL');
  await running.ended;

  // On a machine that is busy enough, it may have come further.
  const inDoubt = readOpenRows(workspace);

  const { summary } = await workspace.run();

  await expectSentOnce(workspace, summary, { inDoubt, count: 20 });
});

/** Runs the command and kills it once so many more requests arrived. Gives the rows that it left open, from its journal. */
async function killAfter(
  workspace: Workspace,
  requests: number,
  area: 'sms' | 'contacts' = 'sms',
): Promise<{ sms: number[] }> {
  const count = () => workspace.requests().filter((request) => request.area === area).length;
  const before = count();
  const running = workspace.start(['run', 'job.yaml']);
  await until(() => count() >= before + requests);
  running.signal('SIGKILL');
  expect((await running.ended).signal).toBe('SIGKILL');
  return { sms: readOpenRows(workspace) };
}

interface JournalLine {
  readonly type: string;
  readonly step: number;
  readonly request: number;
  readonly rows: readonly [number, number];
}

/** The planned rows of the last step between intent and outcome: read from the lines themselves, without the code under test. */
function readOpenRows(workspace: Workspace): number[] {
  if (workspace.runs().length === 0 || !existsSync(workspace.path(journalOf(workspace)))) return [];
  const lines = workspace.read(journalOf(workspace)).split('\n').slice(0, -1);
  const open = new Map<number, readonly [number, number]>();
  const { steps } = JSON.parse(workspace.read(`out/sale/${workspace.runs()[0]}/plan.json`));
  for (const line of lines) {
    const entry = JSON.parse(line) as JournalLine;
    if (entry.step !== steps.length) continue;
    if (entry.type === 'intent') open.set(entry.request, entry.rows);
    if (entry.type === 'outcome') open.delete(entry.request);
  }
  return [...open.values()].flatMap(([first, count]) => Array.from({ length: count }, (_, index) => first + index));
}

function journalOf(workspace: Workspace): string {
  const [run, ...more] = workspace.runs();
  expect(more).toEqual([]);
  return `out/sale/${run}/journal.ndjson`;
}

/** Every message that is not in doubt is in the ledger, none is there twice, and in doubt are just these rows. */
async function expectSentOnce(
  workspace: Workspace,
  summary: Summary,
  { inDoubt, count }: { inDoubt: readonly number[]; count: number },
): Promise<void> {
  expectEveryRowOnce(summary);
  const { number = 0 } = summary.steps.at(-1) ?? {};
  const held = readOutput(summary, number, 'in-doubt').map((row) => row.mobile);
  const numbers = numbersOf(count);
  expect(held).toEqual([...inDoubt].sort((a, b) => a - b).map((row) => numbers[row]));
  const sent = await workspace.destinations();
  expect(sent).toEqual([...new Set(sent)]);
  expect(numbers.filter((each) => !sent.includes(each) && !held.includes(each))).toEqual([]);
  const accepted = readOutput(summary, number, 'results').map((row) => row.mobile);
  expect([...accepted, ...held].sort()).toEqual(numbers);
}
