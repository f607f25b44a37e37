import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { people } from '../e2e/a-job.js';
import { aCommandLine } from '../run/a-command-line.js';

test('rows in doubt of an earlier run are named by every command of its job, and keep its exit code at 3, until they are settled', async () => {
  const { workspace, write, run, plan, settle } = await aCommandLine({ batchSize: 10 });
  workspace.setFaults({ kind: 'reset-after', nth: 2 });
  write('monday.csv', people(30));
  const monday = await run();
  const { directory } = monday.told;
  const openDoubt = { rows: 10, runs: [{ run: monday.told.plan, directory, inDoubt: 10 }] };
  expect(monday).toMatchObject({ code: 3, told: { openDoubt } });

  expect(await run()).toMatchObject({ code: 3, told: { state: 'nothing-new', exitCode: 3, openDoubt } });
  expect(await plan()).toMatchObject({ code: 0, told: { state: 'nothing-new', openDoubt } });
  write('tuesday.csv', people(5, 101));
  expect(await run()).toMatchObject({ code: 3, told: { balance: { accepted: 5, inDoubt: 0 }, openDoubt } });
  // The journal says it where no summary does.
  rmSync(join(directory, 'summary.json'));
  expect(await run()).toMatchObject({ code: 3, told: { openDoubt } });

  expect(await settle(directory, 'sent', 10)).toMatchObject({ code: 0 });
  expect(await run()).toMatchObject({ code: 0, told: { state: 'nothing-new', openDoubt: { rows: 0, runs: [] } } });
});
