import { describe, expect, it } from 'vitest';
import type { Billed } from '../../src/prices/billed-tally.js';
import { formatSummary } from '../../src/texts/summary-text.js';
import { aCsvOf, aFolder, anInput, anSmsStep, aPlan } from '../plan/a-plan.js';
import { aRun, reportOf } from '../run/a-run.js';
import { aReceiptLine, receive } from './some-receipts.js';

const PRICES = { input: anInput({ files: ['prices.csv'] }), currency: 'EUR', onMissing: 'refuse' } as const;
const files = aFolder({ 'people.csv': aCsvOf(4), 'prices.csv': 'country,sms\nSG,0.0136360\n' });

/** Each receipt: row, price, parts. */
type Said = readonly [row: number, price: unknown, smsCount: unknown];

async function billedBy(receipts: readonly Said[], job: object = {}) {
  const made = await aPlan({ files, job });
  await aRun({ made });
  receive(made, ...receipts.map(([row, price, smsCount]) => aReceiptLine(made, row, { payload: { price, smsCount } })));
  const summary = await reportOf(made);
  return summary;
}

const eur = (total: unknown) => ({ total, perSms: total, currency: 'EUR' });

describe('what receipts say that messages cost', () => {
  it('is added up exactly, whatever decimals it has, and set against the forecast for the same messages', async () => {
    const receipts = [
      [0, eur(0.013636), 1],
      [1, eur(0.0000001), 1],
      [3, eur(0.030000000000000002), 3],
    ] as const;

    const { billed, steps, cost } = await billedBy(receipts, { prices: PRICES });

    const expected: Billed = {
      ...{ messages: 3, priced: 3, amounts: { EUR: '0.0436361' } },
      ...{ forecast: '0.040908', parts: 5, plannedParts: 3 },
    };
    expect(billed).toEqual(expected);
    expect(steps[0]?.billed).toEqual(expected);
    expect(cost).toMatchObject({ planned: '0.054544', accepted: '0.054544' });
  });

  it('has no forecast without a price list, and an amount for each currency', async () => {
    const summary = await billedBy([
      [0, eur('0.05'), 1],
      [1, { total: 0.06, currency: 'USD' }, 1],
      [2, eur(0.05), 1],
    ]);

    expect(summary.billed).toMatchObject({ amounts: { EUR: '0.10', USD: '0.06' }, forecast: null });
    expect(formatSummary(summary, { isSandbox: false, nowMs: 0 })).toContain(
      'Receipts of 3 messages: 0.10 EUR + 0.06 USD and 3 parts, forecast 3 parts.',
    );
  });

  it('counts a message that is not charged, with its parts, and no price', async () => {
    const { billed } = await billedBy([
      [0, undefined, 2],
      [1, eur(0.05), undefined],
    ]);

    expect(billed).toMatchObject({ messages: 2, priced: 1, amounts: { EUR: '0.05' }, parts: 2, plannedParts: 1 });
  });

  it('is that of the newest receipt of each message', async () => {
    const made = await aPlan({ files });
    await aRun({ made });
    receive(
      made,
      aReceiptLine(made, 0, { state: 'delivered', at: 5, payload: { price: eur(0.07) } }),
      aReceiptLine(made, 0, { state: 'sent', at: 1, payload: { price: eur(0.01) } }),
      aReceiptLine(made, 0, { state: 'delivered', at: 5, payload: { price: eur(0.07) } }),
    );

    expect((await reportOf(made)).billed).toMatchObject({ messages: 1, amounts: { EUR: '0.07' } });
  });

  it.each([
    ['a negative total', { total: -1, currency: 'EUR' }],
    ['a total that is none', { total: 'much', currency: 'EUR' }],
    ['a total that is no number', { total: {}, currency: 'EUR' }],
    ['no currency', { total: 1 }],
    ['a currency that is none', { total: 1, currency: '<b>' }],
    ['null', null],
    ['text', 'free'],
  ])('passes over %s', async (_what, price) => {
    expect((await billedBy([[0, price, 'many']])).billed).toBeUndefined();
  });

  it('is absent without receipts, and where they say nothing of it', async () => {
    expect((await billedBy([])).billed).toBeUndefined();
    expect((await billedBy([[0, undefined, 0]])).billed).toBeUndefined();
  });

  it('is summed up over the steps; a step without prices leaves no forecast of all', async () => {
    const steps = [anSmsStep(), anSmsStep({ input: anInput({ files: ['people.csv'] }) })];
    const made = await aPlan({ files, job: { steps, prices: PRICES } });
    await aRun({ made });
    receive(made, aReceiptLine(made, 0), aReceiptLine(made, 1, { step: 2 }), aReceiptLine(made, 2, { step: 2 }));

    const { billed, steps: told } = await reportOf(made);

    expect(told.map((step) => step.billed?.messages)).toEqual([1, 2]);
    expect(billed).toMatchObject({ messages: 3, amounts: { EUR: '0.1125' }, forecast: '0.040908' });
  });
});
