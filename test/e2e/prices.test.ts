import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numberOf } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { anInbox } from './an-inbox.js';
import { until } from './command.js';
import { readFailure } from './failure.js';

const PEOPLE = `mobile,name\n${[0, 1, 2].map((row) => `${numberOf(row)},P${row}\n`).join('')}`;

test('a job with prices: a guard stops what costs too much, and the run says what the accepted rows cost', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', PEOPLE);
  workspace.write('prices.csv', 'country,sms\nSG,0.042\n');
  const write = (maxCost: string) => {
    const prices = { file: 'prices.csv', currency: 'eur' };
    const steps = [anSmsStep({ input: { files: 'people.csv' } })];
    workspace.change({ steps, prices, guards: { maxCost } });
  };

  write('0.125');
  const stopped = await workspace.run();
  expect(stopped.code).toBe(4);
  expect(readFailure(stopped).error.problems[0]?.message).toBe(
    '0.126 EUR would be spent, expected at most maxCost 0.125',
  );
  expect(await workspace.destinations()).toEqual([]);

  write('0.126');
  const ran = await workspace.run();
  expect(ran.code).toBe(0);
  const summary = JSON.parse(ran.stdout);
  expect(summary.cost).toMatchObject({ currency: 'EUR', file: 'prices.csv', planned: '0.126', accepted: '0.126' });
  expect(summary.steps[0].cost).toEqual({ planned: '0.126', accepted: '0.126', withoutPrice: 0 });
  const [run] = workspace.runs();
  const report = await workspace.volley('report', `out/sale/${run}`, '--no-json');
  expect(report.stdout).toContain('3 of 3 rows accepted. They cost 0.126 EUR of 0.126 EUR planned.');
});

test('preview says what each message costs, of a job as of its plan; check finds a broken list', async () => {
  const workspace = await aWorkspace();
  workspace.write(
    'people.csv',
    `mobile,name\n${numberOf(1)},Ann\n${numberOf(2)},${'x'.repeat(200)}\n+60123456789,Cid\n12,Dan\n`,
  );
  workspace.write('prices.csv', 'country,sms\nSG,0.042\n');
  const prices = { file: 'prices.csv', currency: 'EUR', onMissing: 'zero' };
  workspace.change({ steps: [anSmsStep({ input: { files: 'people.csv' } }), aContactsStep()], prices });
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
  const { directory } = await workspace.told('plan', 'job.yaml');
  expect(pricesOf(await show(directory))).toEqual(expected);
  expect(pricesOf(await show('job.yaml', '--row', '4'))).toEqual([undefined, undefined]);
  expect((await workspace.volley('preview', directory, '--no-json')).stdout).toMatch(
    /costs 0\.084 EUR[\s\S]*without a price/,
  );
  expect((await workspace.volley('check', 'job.yaml')).code).toBe(0);

  workspace.write('prices.csv', 'country,sms\nSG,cheap\n');
  const broken = await workspace.refused('check', 'job.yaml');
  expect([broken.exitCode, broken.error.problems]).toMatchObject([2, [{ file: 'prices.csv', line: 2 }]]);
  rmSync(workspace.path('prices.csv'));
  expect((await workspace.refused('check', 'job.yaml')).error.problems[0]?.file).toMatch(/prices/);
});

test('receipts say what the messages did cost: summary, account and page set it against the forecast', async () => {
  const workspace = await aWorkspace();
  const inbox = await anInbox();
  // The first, whose number ends in 0000, is never reached, and not charged.
  workspace.write('people.csv', PEOPLE);
  workspace.write('prices.csv', 'country,sms\nSG,0.0136360\n');
  const template = { source: 'ACME', text: 'Hi {{ name }}', dlrCallbackUrl: inbox.url };
  const prices = { file: 'prices.csv', currency: 'USD' };
  workspace.change({ steps: [anSmsStep({ template })], prices });
  const ran = await workspace.run();
  expect(JSON.parse(ran.stdout)).not.toHaveProperty('billed');
  await until(() => inbox.bodies.length === 6);
  const directory = workspace.path(workspace.firstRun());
  const lines = inbox.bodies.map((body, at) => {
    const event = { format: 1, receivedAt: '2026-11-22T21:16:20.372Z', kind: 'receipt', id: `receipt:${at}` };
    return `${JSON.stringify({ ...event, event: JSON.parse(body) })}\n`;
  });
  workspace.write(`${workspace.firstRun()}/receipts.ndjson`, lines.join(''));

  const { summary } = await workspace.volley('report', directory);

  const billed = { messages: 3, priced: 2, amounts: { USD: '0.02' }, forecast: '0.040908', parts: 3, plannedParts: 3 };
  expect(summary).toMatchObject({ billed, deliveries: { delivered: 2, undelivered: 1 }, steps: [{ billed }] });
  const account = await workspace.volley('report', directory, '--no-json');
  expect(account.stdout).toContain('Receipts of 3 messages: 0.02 USD and 3 parts, forecast 0.040908 USD and 3 parts.');
  const page = workspace.read(`${workspace.firstRun()}/report.html`);
  expect(page).toContain('Cost by receipts');
  expect(page).toContain('0.02 USD');
  expect(workspace.read(`${workspace.firstRun()}/deliveries.csv`)).toContain('Absent subscriber');
});
