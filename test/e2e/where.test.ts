import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anSmsStep, numberOf } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';

function writeJob(workspace: Workspace, where: unknown, more = {}): void {
  const step = anSmsStep({ input: { files: 'people.csv', where, ...more } });
  workspace.change({ steps: [step] });
}

describe.concurrent('where', () => {
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
