import { expect, test } from 'vitest';
import { aJob, anSmsStep, numberOf } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const PEOPLE = `mobile,name\n${[0, 1, 2].map((row) => `${numberOf(row)},P${row}\n`).join('')}`;

test('a job with prices: a guard stops what costs too much, and the run says what the accepted rows cost', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', PEOPLE);
  workspace.write('prices.csv', 'country,sms\nSG,0.042\n');
  const write = (maxCost: string) => {
    const prices = { file: 'prices.csv', currency: 'eur' };
    const steps = [anSmsStep({ input: { files: 'people.csv' } })];
    workspace.writeJob(aJob(workspace, { steps, prices, guards: { maxCost } }));
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
