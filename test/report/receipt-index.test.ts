import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openReceipts, type Receipts } from '../../src/report/delivery-receipts.js';
import { aGatewayEvent, anEventLine } from '../listen/events.js';
import { aCsvOf, aFolder, aNumber, anInput, anSmsStep, aPlan, type MadePlan } from '../plan/a-plan.js';
import { aReceiptLine, receive } from './some-receipts.js';

const files = aFolder({ 'people.csv': aCsvOf(5), 'more.csv': aCsvOf(5) });

async function read({ disk, directory, plan }: MadePlan): Promise<Receipts> {
  const receipts = await openReceipts(disk.files, directory, plan);
  if (receipts === undefined) throw new Error('there are no receipts');
  onTestFinished(() => receipts.close());
  return receipts;
}

/** State of the newest receipt of the first row. */
async function stateAfter(...lines: (readonly [state: string, at: number])[]) {
  const made = await aPlan({ files });
  receive(made, ...lines.map(([state, at]) => aReceiptLine(made, 0, { state, at })));
  return (await (await read(made)).receiptOf(1, 0))?.state;
}

describe('receipts of a run', () => {
  it('are undefined where there is no file of them', async () => {
    const { disk, directory, plan } = await aPlan({ files });
    expect(await openReceipts(disk.files, directory, plan)).toBeUndefined();
  });

  it('are found by the row that their clientMessageId names, whatever their order', async () => {
    const made = await aPlan({ files });
    receive(made, ...[3, 0, 4].map((row) => aReceiptLine(made, row)));
    const receipts = await read(made);
    expect([0, 1, 2, 3, 4, 5].map((row) => receipts.has(1, row))).toEqual([true, false, false, true, true, false]);
    expect([...(await receipts.receiptsOf(1, [4, 0, 1, 3]))].map(([row, { umid }]) => [row, umid])).toEqual(
      [3, 0, 4].map((row) => [row, `m-${row}`]),
    );
    expect(await receipts.receiptOf(1, 2)).toBeUndefined();
    expect(receipts.foreign).toBe(0);
  });

  it('of several steps are kept apart', async () => {
    const steps = [anSmsStep(), anSmsStep({ input: anInput({ files: ['more.csv'] }) })];
    const made = await aPlan({ files, job: { steps } });
    receive(made, aReceiptLine(made, 1, { step: 2 }));
    const receipts = await read(made);
    expect([receipts.has(1, 1), receipts.has(2, 1)]).toEqual([false, true]);
  });

  it('count by the time of their status, not by their place in the file', async () => {
    expect(await stateAfter(['delivered', 9], ['sent', 3])).toBe('delivered');
    expect(await stateAfter(['undelivered', 3], ['sent', 9])).toBe('sent');
  });

  it.each([
    ['sent', 'queued'],
    ['delivered', 'sent'],
    ['undelivered', 'sent'],
    ['rejected', 'sent'],
    ['read', 'delivered'],
  ])('of one moment: %s comes after %s', async (later, earlier) => {
    expect(await stateAfter([later, 5], [earlier, 5])).toBe(later);
    expect(await stateAfter([earlier, 5], [later, 5])).toBe(later);
  });

  it('whose time has no offset have it by UTC, whatever zone this machine has', async () => {
    vi.stubEnv('TZ', 'Pacific/Kiritimati');
    onTestFinished(() => void vi.unstubAllEnvs());
    const made = await aPlan({ files });
    const sent = aReceiptLine(made, 0, { state: 'sent', at: 3 });
    receive(made, aReceiptLine(made, 0, { status: { timestamp: '2026-11-21T12:00:04' } }), sent);
    expect((await (await read(made)).receiptOf(1, 0))?.state).toBe('delivered');
  });

  it('whose time cannot be read have that of their arrival', async () => {
    const made = await aPlan({ files });
    receive(made, aReceiptLine(made, 0, { status: { timestamp: 'soon' } }));
    expect(await (await read(made)).receiptOf(1, 0)).toMatchObject({ time: '2026-11-21T12:30:00.000Z' });
  });

  it.each<[string, object, object?]>([
    ['another number', { destination: aNumber(1) }],
    ['another subaccount', { subAccountId: 'other_hq' }],
    ['a message of another run', { clientMessageId: 'k3v9q2m8x4aa-1-0' }],
    ['a row that is not there', { clientMessageId: 'ROW-5' }],
    ['a row that is no number', { clientMessageId: 'ROW-00' }],
    ['another step', { clientMessageId: 'STEP-0' }],
  ])('are foreign with %s: they count, and say nothing of a row', async (_what, payload) => {
    const made = await aPlan({ files });
    const id = 'clientMessageId' in payload ? String(payload.clientMessageId) : `${made.plan.id}-1-0`;
    const clientMessageId = id.replace('ROW', `${made.plan.id}-1`).replace('STEP', `${made.plan.id}-2`);
    receive(made, aReceiptLine(made, 0, { payload: { ...payload, clientMessageId } }));
    const receipts = await read(made);
    expect(receipts.foreign).toBe(1);
    expect([0, 1, 2, 3, 4].filter((row) => receipts.has(1, row))).toEqual([]);
  });

  it('with a number written otherwise are of the row all the same', async () => {
    const made = await aPlan({ files });
    receive(made, aReceiptLine(made, 0, { payload: { destination: aNumber(0).slice(1) } }));
    const receipts = await read(made);
    expect([receipts.has(1, 0), receipts.foreign]).toEqual([true, 0]);
  });

  it('forged later with another number do not displace the true one', async () => {
    const made = await aPlan({ files });
    const forged = aReceiptLine(made, 0, { state: 'rejected', at: 9, payload: { destination: aNumber(3) } });
    receive(made, aReceiptLine(made, 0, { at: 1 }), forged);
    expect(await (await read(made)).receiptOf(1, 0)).toMatchObject({ state: 'delivered' });
  });

  it('without a number or a documented state, and events of other kinds, are passed over', async () => {
    const made = await aPlan({ files });
    const nowhere = aReceiptLine(made, 0, { payload: { destination: '' } });
    receive(
      made,
      nowhere,
      aReceiptLine(made, 0, { state: 'constructor' }),
      anEventLine(aGatewayEvent()),
      anEventLine({ a: 1 }),
    );
    const receipts = await read(made);
    expect([receipts.has(1, 0), receipts.foreign]).toEqual([false, 0]);
  });

  it('leave out a torn last line, and resume behind a line that is too long', async () => {
    const made = await aPlan({ files });
    const long = aReceiptLine(made, 0, { status: { detail: 'x'.repeat(1 << 16) } });
    receive(made, long, aReceiptLine(made, 1), aReceiptLine(made, 2).slice(0, -1));
    const receipts = await read(made);
    expect([0, 1, 2].map((row) => receipts.has(1, row))).toEqual([false, true, false]);
    expect(await receipts.receiptOf(1, 1)).toMatchObject({ umid: 'm-1', destination: aNumber(1).slice(1) });
  });
});
