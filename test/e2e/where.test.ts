import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anSmsStep, numberOf } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';

const writeJob = (workspace: Workspace, where: unknown) =>
  workspace.change({ steps: [anSmsStep({ input: { files: 'people.csv', where } })] });

describe.concurrent('where', () => {
  test('shows on every account how many rows each condition left, and what it left out: a wrong spelling is seen', async () => {
    const rows = ['yes,Deutschland', 'yes,DE', 'yes,DE', 'yes,Germany', 'no,DE', ',FR'].map(
      (cells, row) => `${numberOf(row)},P${row},${cells}`,
    );
    const workspace = await aJobFor(`mobile,name,consent,Land\n${rows.join('\n')}\n`);
    writeJob(workspace, { consent: 'yes', Land: ['Deutschland', 'Österreich'] });
    for (const verb of ['plan', 'run']) {
      const text = await workspace.said(verb, 'job.yaml');
      expect(text).toContain(
        '6 read → 4 after consent: yes (−2) → 1 after Land: [Deutschland, Österreich] (−3) → 1 to send',
      );
      expect(text).toContain('Land: [Deutschland, Österreich] omits: DE 2, Germany 1');
    }
    expect(await workspace.destinations()).toEqual([numberOf(0)]);
    const run = workspace.firstRun();
    expect(JSON.parse(workspace.read(`${run}/summary.json`)).steps[0].funnel).toMatchObject([{ left: 4 }, { left: 1 }]);
    const page = workspace.read(`${run}/report.html`);
    for (const said of ['Audience: <b>1</b> of 6 rows read', '3: DE 2, Germany 1']) expect(page).toContain(said);
  });

  test('with days before the plan is fixed by it: the plan, a resumed run and a retry have one date', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const rows = [1, 30, 200].map((days, row) => `${numberOf(row)},P${row},${daysAgo(days)}\n`);
    const workspace = await aJobFor(`mobile,name,last\n${rows.join('')}`);
    writeJob(workspace, { last: { after: '90 days ago' } });
    for (const args of [['check'], ['preview'], ['test', '--to', numberOf(5)]] as const)
      expect((await workspace.volley(args[0], 'job.yaml', ...args.slice(1))).code).toBe(0);
    const planned = await workspace.told('plan', 'job.yaml');
    const plan = JSON.parse(readFileSync(join(planned.directory, 'plan.json'), 'utf8'));
    const [[{ tests }]] = plan.job.steps[0].input.where;
    expect([daysAgo(91), daysAgo(90), daysAgo(89)]).toContain(tests[0].bound);
    expect(plan.steps[0].funnel[0].filter).toBe(`last: { after: ${tests[0].bound} }`);
    await workspace.volley('apply', planned.directory, '--confirm', planned.plan);
    const sent = await workspace.destinations();
    expect(sent.filter((number) => number !== numberOf(5))).toEqual([numberOf(0), numberOf(1)]);

    writeJob(workspace, { last: { after: '1 year ago' } });
    const retry = (...job: string[]) => workspace.retry(planned.directory, 'filtered', ...job);
    expect(await retry()).toMatchObject({ state: 'nothing-to-retry' });
    expect(await retry('--job', 'job.yaml')).toMatchObject({ steps: [{ counts: { planned: 1 } }] });
  });
});
