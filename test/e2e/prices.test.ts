import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numberOf } from './a-job.js';
import { aJobFor } from './a-workspace.js';

const PEOPLE = `mobile,name\n${[0, 1, 2].map((row) => `${numberOf(row)},P${row}\n`).join('')}`;

test('a job with prices: a guard stops what costs too much, and the run says what the accepted rows cost', async () => {
  const workspace = await aJobFor(PEOPLE);
  workspace.write('prices.csv', 'country,sms\nSG,0.042\n');
  const prices = { file: 'prices.csv', currency: 'eur' };

  workspace.change({ prices, guards: { maxCost: '0.125' } });
  const message = '0.126 EUR would be spent, expected at most maxCost 0.125';
  const stopped = { exitCode: 4, error: { problems: [{ message }] } };
  expect(await workspace.refused('run', 'job.yaml')).toMatchObject(stopped);
  expect(await workspace.destinations()).toEqual([]);

  workspace.change({ prices, guards: { maxCost: '0.126' } });
  const { exitCode, cost, steps } = await workspace.told('run', 'job.yaml');
  const spent = { planned: '0.126', accepted: '0.126' };
  expect([exitCode, cost]).toMatchObject([0, { currency: 'EUR', file: 'prices.csv', ...spent }]);
  expect(steps[0].cost).toEqual({ ...spent, withoutPrice: 0 });
  const report = await workspace.said('report', workspace.firstRun());
  expect(report).toContain('3 of 3 rows accepted. They cost 0.126 EUR of 0.126 EUR planned.');
});

test('preview says what each message costs, of a job as of its plan; check finds a broken list', async () => {
  const prices = { file: 'prices.csv', currency: 'EUR', onMissing: 'zero' };
  const rows = `${numberOf(1)},Ann\n${numberOf(2)},${'x'.repeat(200)}\n+60123456789,Cid\n12,Dan\n`;
  const workspace = await aJobFor(`mobile,name\n${rows}`, { steps: [anSmsStep(), aContactsStep()], prices });
  workspace.write('prices.csv', 'country,sms\nSG,0.042\n');
  const show = async (of: string, ...flags: string[]) => (await workspace.told('preview', of, ...flags)).rows;
  const pricesOf = (rows: { price?: object }[]) => rows.map(({ price }) => price);
  const expected = [
    { amount: '0.042', currency: 'EUR' },
    { amount: '0.084', currency: 'EUR' },
    { amount: null, currency: 'EUR' },
    // Contacts cost nothing without a column for them.
    ...[undefined, undefined, undefined],
  ];

  expect(pricesOf(await show('job.yaml'))).toEqual(expected);
  const directory = await workspace.plan();
  expect(pricesOf(await show(directory))).toEqual(expected);
  expect(pricesOf(await show('job.yaml', '--row', '4'))).toEqual([undefined, undefined]);
  expect(await workspace.said('preview', directory)).toMatch(/costs 0\.084 EUR.*without a price/);
  expect((await workspace.volley('check', 'job.yaml')).code).toBe(0);

  workspace.write('prices.csv', 'country,sms\nSG,cheap\n');
  const broken = { exitCode: 2, error: { problems: [{ file: 'prices.csv', line: 2 }] } };
  expect(await workspace.refused('check', 'job.yaml')).toMatchObject(broken);
  rmSync(workspace.path('prices.csv'));
  expect((await workspace.refused('check', 'job.yaml')).error.problems[0]?.file).toMatch(/prices/);
});
