import { readdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { beginPeople } from '../../src/people/open-people.js';
import { readPlan } from '../../src/plan/format/plan-file.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aJob, anSmsStep, numberOf } from '../e2e/a-job.js';
import { aDiskOf, killAfter } from '../e2e/a-mortal-command.js';
import { aWorkspaceInProcess } from '../e2e/a-workspace.js';

test('of two runs that resume in one moment at most one sends to a person that both had held', async () => {
  const workspace = await aWorkspaceInProcess();
  const hang = () => workspace.setFaults({ kind: 'latency', delayMs: 60_000, area: 'sms', nth: 1 });
  const runs: { name: string; directory: string }[] = [];
  const jobs = { before: [1, 9], one: [2, 11, 12, 13, 9], two: [3, 21, 22, 23, 9] };
  for (const [name, ids] of Object.entries(jobs)) {
    workspace.write(`${name}.csv`, `name,mobile\n${ids.map((id) => `P${id},${numberOf(id)}\n`).join('')}`);
    const step = anSmsStep({ input: { files: `${name}.csv` }, batchSize: 1 });
    workspace.writeJob(aJob(workspace, { name, steps: [step] }), `${name}.yaml`);
  }
  for (const name of ['one', 'two']) {
    const { directory } = JSON.parse((await workspace.volley('plan', `${name}.yaml`)).stdout);
    runs.push({ name, directory });
  }
  hang();
  await killAfter(1, workspace, 'run', 'before.yaml');
  for (const [index, { directory }] of runs.entries()) {
    hang();
    await killAfter(2 + index, workspace, 'apply', directory);
  }
  const [before] = readdirSync(workspace.path('out/before')).filter((name) => name.startsWith('20'));
  expect((await workspace.volley('abandon', `out/before/${before}`)).code).toBe(0);

  const times = { nowMs: Date.now(), onNotice: () => {} };
  const [one, two] = await Promise.all(
    runs.map(async ({ directory }) => ({ directory, plan: await readPlan(nodeFiles, directory) })),
  );
  if (one === undefined || two === undefined) throw new Error('two plans were made');
  let meanwhile: ReturnType<typeof beginPeople> | undefined;
  const disk = aDiskOf(async (operation, act) => {
    if (operation.startsWith('open') && operation.includes(`/${one.plan.id}-`) && operation.endsWith('.part'))
      meanwhile ??= beginPeople(nodeFiles, two, times);
    await meanwhile;
    return act();
  });
  const finds = [await beginPeople(disk.files, one, times), await meanwhile];

  expect(meanwhile).toBeDefined();
  const text = crc32(JSON.stringify('Hi P9'), crc32('ACME\n'));
  expect(finds.filter((find) => find?.(Number(numberOf(9)), () => text) === undefined)).toHaveLength(1);
});
