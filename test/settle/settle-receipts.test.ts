import { describe, expect, it } from 'vitest';
import { fileIdsOf } from '../../src/plan/reimport/named-rows.js';
import { readHistory } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { StopSwitch } from '../../src/run/stop.js';
import { joinReceipts } from '../../src/settle/settle-receipts.js';
import { acquireLock } from '../../src/storage/lock.js';
import { aNumber, aPlan, aPlanOfBatches, linesOf, type MadePlan } from '../plan/a-plan.js';
import { aReceiptLine, receive } from '../report/some-receipts.js';
import { retry } from '../retry/a-retry.js';
import {
  aRun,
  aScriptedService,
  cutJournal,
  entriesOf,
  failure,
  journalOf,
  outputOf,
  reportOf,
  writeJournal,
} from '../run/a-run.js';
import { aRunInDoubt, findEntry } from './a-run-in-doubt.js';
import { depsOf } from './an-export.js';

const JOB = '/out/sale';
const join = (made: MadePlan) => joinReceipts(made, { ...depsOf(made), isProcessAlive: () => true });
const lockByOther = (made: MadePlan) =>
  acquireLock({ ...depsOf(made), owner: { host: 'here', pid: 9, instance: 'i9' } }, JOB);
const settlesOf = ({ disk, directory }: MadePlan) =>
  entriesOf(disk, directory).flatMap((entry) => (entry.type === 'settle' ? [entry] : []));

describe('rows in doubt with a receipt', () => {
  it('are settled: accepted with their umid, or rejected with the code of the receipt', async () => {
    const made = await aRunInDoubt();
    const status = { errorCode: 14, errorMessage: 'Spam content' };
    const undelivered = aReceiptLine(made, 2, { state: 'undelivered' });
    receive(made, undelivered, aReceiptLine(made, 3, { state: 'rejected', status }));
    expect(await join(made)).toMatchObject({
      kind: 'joined',
      settled: { accepted: 1, rejected: 1 },
      foreign: 0,
      summary: {
        exitCode: 1,
        balance: { accepted: 5, rejected: 1, inDoubt: 0 },
        deliveries: { undelivered: 1, rejected: 1 },
      },
    });
    expect(outputOf(made, 'in-doubt')).toEqual([]);
    expect(outputOf(made, 'results')[2]).toBe(
      `1,people.csv,4,3,RECEIPT,m-2,${made.plan.id}-1-2,,${aNumber(2)},1,Delivery receipt: undelivered,${aNumber(2)},n2`,
    );
    expect(outputOf(made, 'rejections')).toEqual([
      `${aNumber(3)},n3,1,people.csv,5,4,send,,14,Spam content,${fileIdsOf(made.plan, made.step)[0]}-4`,
    ]);
  });

  it('are settled under a lock above the memory, also where the files of the lock were deleted: their lines would not count', async () => {
    const made = await aRunInDoubt();
    made.disk.write(`${JOB}/memory-000041.json`, '');
    receive(made, aReceiptLine(made, 2));
    await join(made);
    expect(made.disk.list(JOB).filter((name) => name.startsWith('lock-'))).toEqual(['lock-000042.json']);
  });

  it('are written to the journal by what told it, and the run ends as before', async () => {
    const made = await aRunInDoubt();
    const close = entriesOf(made.disk, made.directory).at(-1);
    receive(made, aReceiptLine(made, 3), aReceiptLine(made, 2));
    await join(made);
    const verdicts = [{ status: 'accepted', code: 'RECEIPT', reason: 'Delivery receipt: delivered' }];
    const rows = [
      [2, 0, 'm-2'],
      [3, 0, 'm-3'],
    ];
    const expected = [{ type: 'settle', step: 1, at: 1_800_000_000_000, by: 'receipt', verdicts, rows }, close];
    expect(entriesOf(made.disk, made.directory).slice(-2)).toEqual(expected);
    expect((await readHistory(made.disk.files, JOB, new RegistryState())).map(({ state }) => state)).toEqual([
      'finished',
    ]);
  });

  it('are settled once: a second time there is nothing to do, and the outputs are the same', async () => {
    const made = await aRunInDoubt();
    receive(made, aReceiptLine(made, 2), aReceiptLine(made, 3));
    await join(made);
    const before = made.disk.snapshot(made.directory);
    receive(made, aReceiptLine(made, 2), aReceiptLine(made, 3));
    expect(await join(made)).toMatchObject({ settled: { accepted: 0, rejected: 0 } });
    await reportOf(made);
    expect(made.disk.snapshot(made.directory)).toEqual(before);
  });

  it('say rejected without a code as REJECTED', async () => {
    const made = await aRunInDoubt();
    receive(made, aReceiptLine(made, 2, { state: 'rejected', status: { detail: 'no_route' } }));
    await join(made);
    expect(settlesOf(made)[0]?.verdicts).toEqual([{ status: 'rejected', code: 'REJECTED', reason: 'no_route' }]);
  });

  it('are accepted by a receipt that says sent, also where a later one says queued', async () => {
    const made = await aRunInDoubt();
    receive(made, aReceiptLine(made, 2, { state: 'sent', at: 1 }), aReceiptLine(made, 2, { state: 'queued', at: 9 }));
    expect(await join(made)).toMatchObject({ settled: { accepted: 1 }, summary: { balance: { inDoubt: 1 } } });
    expect(outputOf(made, 'results')[2]).toContain('Delivery receipt: sent');
  });

  it('stay in doubt where they are only queued: such a message may be refused, or taken back', async () => {
    const made = await aRunInDoubt();
    const before = journalOf(made);
    receive(made, aReceiptLine(made, 2, { state: 'queued' }), aReceiptLine(made, 3, { state: 'queued' }));
    expect(await join(made)).toMatchObject({ summary: { balance: { inDoubt: 2 }, deliveries: { queued: 2 } } });
    expect(journalOf(made)).toBe(before);
  });

  it.each([
    ['delivered', 'rejected'],
    ['rejected', 'delivered'],
    ['undelivered', 'rejected'],
  ])('stay in doubt where one says %s and a later one %s, and no retry takes them', async (first, second) => {
    const made = await aRunInDoubt();
    receive(made, aReceiptLine(made, 2, { state: first, at: 1 }), aReceiptLine(made, 2, { state: second, at: 2 }));
    expect(await join(made)).toMatchObject({ summary: { exitCode: 3, balance: { rejected: 0, inDoubt: 2 } } });
    expect(outputOf(made, 'in-doubt').join('\n')).toMatch(/,contradiction,"Delivery receipts contradict each other: /);
    const before = made.disk.snapshot(made.directory);
    await join(made);
    expect(made.disk.snapshot(made.directory)).toEqual(before);
    expect((await retry(made, 'rejected')).made).toBeUndefined();
  });

  it('go to the journal by the thousand, each once, and the history still finds the end of the run', async () => {
    const made = await aPlanOfBatches(2400, { batchSize: 1200, concurrency: 4 });
    // The first requests, of 10 and 100 rows, are a trial; the two behind them are in flight together.
    await aRun({ made, service: aScriptedService((_sent, count) => (count > 2 ? failure(true) : undefined)) });
    const rows = Array.from({ length: 2290 }, (_, row) => 110 + row);
    receive(made, ...rows.map((row) => aReceiptLine(made, row, { payload: { umid: `${row}-`.padEnd(90, 'u') } })));
    const expected = { settled: { accepted: 2290 }, summary: { exitCode: 0, deliveries: { delivered: 2290 } } };
    expect(await join(made)).toMatchObject(expected);
    const settles = settlesOf(made);
    expect(settles.map((entry) => entry.rows.length)).toEqual([1000, 1000, 290]);
    expect(settles.flatMap((entry) => entry.rows.map(([row]) => row))).toEqual(rows);
    const withoutClose = linesOf(journalOf(made)).slice(0, -1);
    expect(withoutClose.slice(-3).join('\n').length).toBeGreaterThan(1 << 16);
    writeJournal(made, withoutClose);
    expect((await readHistory(made.disk.files, JOB, new RegistryState())).map(({ state }) => state)).toEqual([
      'finished',
    ]);
  });
});

describe('a receipt', () => {
  it.each<[string, object]>([
    ['for another number', { destination: aNumber(4) }],
    ['for another subaccount', { subAccountId: 'other' }],
  ])('that is forged %s settles nothing, and leaves no trace in the journal', async (_how, payload) => {
    const made = await aRunInDoubt();
    const before = journalOf(made);
    receive(made, aReceiptLine(made, 2, { payload }));
    expect(await join(made)).toMatchObject({ foreign: 1, summary: { balance: { inDoubt: 2 }, exitCode: 3 } });
    expect(journalOf(made)).toBe(before);
  });

  it('changes nothing of a row that has its verdict already', async () => {
    const made = await aRunInDoubt();
    receive(made, aReceiptLine(made, 0, { state: 'rejected' }));
    expect(await join(made)).toMatchObject({
      summary: { balance: { accepted: 4, inDoubt: 2 }, deliveries: { rejected: 1 } },
    });
    expect(settlesOf(made)).toEqual([]);
  });

  it('does not settle a row of a request that has no outcome yet', async () => {
    const made = await aRunInDoubt();
    cutJournal(made, findEntry(made, 'outcome', 2));
    receive(made, aReceiptLine(made, 2));
    await join(made);
    expect(settlesOf(made)).toEqual([]);
    expect((await aRun({ made, epoch: 2 })).end.reason).toBe('finished');
    expect(await join(made)).toMatchObject({
      settled: { accepted: 1 },
      // The third request was in flight beside it.
      summary: { balance: { accepted: 3, inDoubt: 3 } },
    });
  });
});

describe('a runner', () => {
  it('that has the job is not disturbed: nothing is written, and it is said', async () => {
    const made = await aRunInDoubt();
    const lock = await lockByOther(made);
    receive(made, aReceiptLine(made, 2));
    const before = made.disk.snapshot('/out');
    expect(await join(made)).toMatchObject({ kind: 'held', said: expect.stringContaining('process 9') });
    expect(made.disk.snapshot('/out')).toEqual(before);
    await lock.assertHeld();
    await lock.release();
    expect(await join(made)).toMatchObject({ kind: 'joined', settled: { accepted: 1 } });
  });

  it('may hold the job for another run while deliveries of a finished one, with nothing to settle, are written', async () => {
    const made = await aRunInDoubt();
    const lock = await lockByOther(made);
    receive(made, aReceiptLine(made, 0));
    expect(await join(made)).toMatchObject({ kind: 'joined', summary: { deliveries: { delivered: 1 } } });
    await lock.release();
  });

  it('finds the lock free afterwards, and resumes a run that had stopped', async () => {
    const stop = new StopSwitch();
    const made = await aPlanOfBatches(6);
    const loseSecond = aScriptedService((_sent, count) => {
      if (count !== 2) return undefined;
      stop.request('interrupted', 'SIGTERM');
      return failure(true);
    });
    await aRun({ made, stop, service: loseSecond });
    receive(made, aReceiptLine(made, 2), aReceiptLine(made, 3));
    expect(await join(made)).toMatchObject({ settled: { accepted: 2 }, summary: { state: 'stopped', exitCode: 75 } });
    const service = aScriptedService();
    await aRun({ made, service, epoch: 1 });
    expect(service.sent.map(({ rows }) => rows)).toEqual([[4, 5]]);
    const expected = { state: 'finished', exitCode: 0, balance: { accepted: 6, inDoubt: 0 } };
    expect(await reportOf(made)).toMatchObject(expected);
  });

  it('that lost its lock has no last word behind what was settled', async () => {
    const made = await aRunInDoubt();
    const [late = ''] = cutJournal(made, findEntry(made, 'outcome', 2) + 1);
    receive(made, aReceiptLine(made, 2), aReceiptLine(made, 3));
    await join(made);
    writeJournal(made, [...linesOf(journalOf(made)), late]);
    // The third request was in flight beside the second.
    const settled = { accepted: 4, inDoubt: 2, unprocessed: 0 };
    expect(await reportOf(made)).toMatchObject({ state: 'unfinished', balance: settled });
    const service = aScriptedService();
    await aRun({ made, service, epoch: 3 });
    expect(service.sent).toEqual([]);
  });
});

it('nothing is done without receipts, and for a plan that was never applied', async () => {
  const made = await aRunInDoubt();
  const before = made.disk.snapshot('/out');
  expect(await join(made)).toEqual({ kind: 'nothing' });
  expect(made.disk.snapshot('/out')).toEqual(before);
  const draft = await aPlan();
  receive(draft, aReceiptLine(draft, 0));
  expect(await join(draft)).toEqual({ kind: 'nothing' });
  expect(draft.disk.has(`${draft.directory}/summary.json`)).toBe(false);
});
