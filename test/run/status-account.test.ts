import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aJobFor } from '../e2e/a-workspace.js';

const ROWS = 'mobile,name\n+6590000001,a\n+6590000001,b\nnope,c\nn/a,d\n+6590000002,e\n';

test('status counts all rows that were read, also those refused and skipped while planning', async () => {
  const workspace = await aJobFor(ROWS);
  await workspace.run();
  const { stdout } = await workspace.volley('status', 'job.yaml', '--no-json');
  expect(stdout).toContain(
    '  step   read  accepted  rejected  skipped  in doubt  not sent\n' +
      '  1 sms     5         2         2        1         –         –\n',
  );
  expect(stdout).toContain('Next: correct the rows in');
  const balance = { read: 5, accepted: 2, rejected: 2, skipped: 1, inDoubt: 0, unprocessed: 0 };
  expect((await workspace.told('status', 'job.yaml')).steps).toMatchObject([{ planned: 2, balance }]);
});

test('status of a plan that was not sent says how to send it', async () => {
  const workspace = await aJobFor(ROWS);
  await workspace.plan();
  const { stdout } = await workspace.volley('status', 'job.yaml', '--no-json');
  expect(stdout).toMatch(/ 1 sms +5 +– +2 +1 +– +2\n/);
  expect(stdout).toMatch(new RegExp(`Next: send it\\n  .* apply ${workspace.firstRun()} --confirm \\S+\\n`));
});

test('status of a finished run whose process died before its outputs says how to write them', async () => {
  const workspace = await aJobFor(ROWS);
  await workspace.run();
  const run = workspace.firstRun();
  rmSync(workspace.path(`${run}/summary.json`));
  const { stdout } = await workspace.volley('status', 'job.yaml', '--no-json');
  expect(stdout).toMatch(new RegExp(`Next: write its outputs: .* nothing is left to send\\n  .* apply ${run}\\n`));
});
