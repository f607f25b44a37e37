import { describe, expect, test } from 'vitest';
import { type CancelAnswer, cancelBatches } from '../../src/settle/cancel-batches.js';
import { settleByReceipts } from '../../src/settle/settle-receipts.js';
import { aPlanOfBatches, type MadePlan } from '../plan/a-plan.js';
import { aReceiptLine, receive } from '../report/some-receipts.js';
import { aRun, aScriptedService, batchAnswer, entriesOf, outputOf, reportOf, response } from '../run/a-run.js';
import { depsOf, lockedRun, withLock } from './an-export.js';

/** Two batches of three messages, both accepted, or answered otherwise. */
async function anAcceptedRun(change: (answer: BatchAnswer, count: number) => object = () => ({})): Promise<MadePlan> {
  const made = await aPlanOfBatches(6, { batchSize: 3 });
  const service = aScriptedService((sent, count) => {
    const answer = { ...batchAnswer(sent), batchId: `b${count}` };
    return response(200, { ...answer, ...change(answer, count) });
  });
  await aRun({ made, service });
  return made;
}

type BatchAnswer = ReturnType<typeof batchAnswer>;

const cancelWith = (
  made: MadePlan,
  cancel: (batchId: string) => Promise<CancelAnswer>,
  signal = new AbortController().signal,
) =>
  withLock(made, async (lock) =>
    cancelBatches(await lockedRun(made, lock), { person: 'ann', step: 1, cancel, signal }, depsOf(made)),
  );
const codesOf = (made: MadePlan, output: string) =>
  outputOf(made, output).map((line) => /,(cancelled|cancelling|partly-cancelled|QUEUED),/.exec(line)?.[1]);

describe('a cancel', () => {
  test('that takes back a part of a batch leaves the whole batch in doubt: the service does not say which', async () => {
    const made = await anAcceptedRun();
    const counts = await cancelWith(made, async () => ({ kind: 'cancelled', count: 2 }));
    expect(counts).toMatchObject({ batches: 2, cancelled: 0 });
    expect(await reportOf(made)).toMatchObject({ exitCode: 3, balance: { accepted: 0, inDoubt: 6, unprocessed: 0 } });
    expect(codesOf(made, 'in-doubt')).toEqual(Array(6).fill('partly-cancelled'));
  });

  test('of what was sent already changes nothing: ids and status stay', async () => {
    const made = await anAcceptedRun();
    await reportOf(made);
    const before = made.disk.readText(`${made.directory}/1-sms.results.csv`);
    const counts = await cancelWith(made, async () => ({ kind: 'cancelled', count: 0 }));
    expect(counts).toMatchObject({ batches: 2, cancelled: 0 });
    expect(await reportOf(made)).toMatchObject({ exitCode: 0, balance: { accepted: 6 } });
    expect(made.disk.readText(`${made.directory}/1-sms.results.csv`)).toBe(before);
  });

  test.each<[string, CancelAnswer]>([
    ['takes back none', { kind: 'cancelled', count: 0 }],
    ['is refused', { kind: 'refused', reason: 'HTTP 404' }],
  ])('that %s leaves each row its own code and description', async (_what, answer) => {
    const made = await anAcceptedRun(({ messages }) => ({
      messages: messages.map((message, at) => ({
        ...message,
        status:
          at === 1 ? { code: 'REJECTED', description: 'No route' } : { code: 'QUEUED', description: `Part ${at}` },
      })),
    }));
    await reportOf(made);
    const read = () =>
      ['results', 'rejections'].map((name) => made.disk.readText(`${made.directory}/1-sms.${name}.csv`));
    const before = read();
    for (const said of ['Part 0', 'Part 2']) expect(before[0]).toContain(said);
    expect(await cancelWith(made, async () => answer)).toMatchObject({ batches: 2, cancelled: 0 });
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 4, rejected: 2 } });
    expect(read()).toEqual(before);
  });

  test.each([2, 3])(
    'of a batch with a row in doubt that takes back %i of its three leaves it in doubt',
    async (count) => {
      // The answer omits the last row.
      const made = await anAcceptedRun(({ messages }, batch) => (batch === 1 ? { messages: messages.slice(1) } : {}));
      expect(await reportOf(made)).toMatchObject({ balance: { accepted: 5, inDoubt: 1 } });
      const expected = { batches: 2, cancelled: count === 3 ? 3 : 0 };
      expect(await cancelWith(made, async () => ({ kind: 'cancelled', count }))).toMatchObject(expected);
      expect(codesOf(made, 'unprocessed')).toEqual([]);
      await reportOf(made);
      expect(codesOf(made, 'in-doubt').slice(0, 2)).toEqual(['partly-cancelled', 'partly-cancelled']);
    },
  );

  test.each([3, 6])(
    'of two batches to which the service gave one id asks once, and %i leaves both in doubt',
    async (count) => {
      const made = await anAcceptedRun(() => ({ batchId: 'b' }));
      const asked: string[] = [];
      const cancel = async (batchId: string): Promise<CancelAnswer> => {
        asked.push(batchId);
        return { kind: 'cancelled', count: asked.length === 1 ? count : 0 };
      };
      expect(await cancelWith(made, cancel)).toMatchObject({ batches: 1, cancelled: 0 });
      expect(asked).toEqual(['b']);
      expect(await reportOf(made)).toMatchObject({ exitCode: 3, balance: { accepted: 0, inDoubt: 6, unprocessed: 0 } });
      expect(codesOf(made, 'in-doubt')).toEqual(Array(6).fill('partly-cancelled'));
    },
  );

  test('of a batch whose first cancel has no answer is not sent again, though a receipt shows that a part was sent', async () => {
    const made = await anAcceptedRun();
    await cancelWith(made, async () => ({ kind: 'unknown' }));
    receive(made, aReceiptLine(made, 0));
    await withLock(made, async (lock) => settleByReceipts(await lockedRun(made, lock), depsOf(made)));
    expect(await cancelWith(made, async () => ({ kind: 'cancelled', count: 3 }))).toMatchObject({ batches: 0 });
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 1, inDoubt: 5, unprocessed: 0 } });
  });

  test('whose process dies before the answer leaves its batch in doubt, durably, before the call leaves', async () => {
    const made = await anAcceptedRun();
    const died = new Error('the process died');
    const kinds: unknown[] = [];
    const cancel = async () => {
      kinds.push(...entriesOf(made.disk, made.directory).slice(-1));
      throw died;
    };
    await expect(cancelWith(made, cancel)).rejects.toBe(died);
    expect(kinds).toMatchObject([
      {
        type: 'settle',
        from: 'accepted',
        by: 'cancel ann',
        rows: [0, 1, 2].map((row) => [row, 0, expect.stringMatching(/^u-/)]),
      },
    ]);
    expect(await reportOf(made)).toMatchObject({ state: 'finished', balance: { accepted: 3, inDoubt: 3 } });
    expect(codesOf(made, 'in-doubt')).toEqual(Array(3).fill('cancelling'));
    // What is in doubt is not cancelled once more.
    const expected = { batches: 1, cancelled: 3 };
    expect(await cancelWith(made, async () => ({ kind: 'cancelled', count: 3 }))).toMatchObject(expected);
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 0, inDoubt: 3, unprocessed: 3 } });
  });

  test('that is interrupted ends between two batches', async () => {
    const made = await anAcceptedRun();
    const interrupted = new AbortController();
    const cancel = async (): Promise<CancelAnswer> => {
      interrupted.abort();
      return { kind: 'cancelled', count: 3 };
    };
    expect(await cancelWith(made, cancel, interrupted.signal)).toMatchObject({ batches: 1, cancelled: 3 });
    expect(await reportOf(made)).toMatchObject({ balance: { accepted: 3, unprocessed: 3 } });
  });
});
