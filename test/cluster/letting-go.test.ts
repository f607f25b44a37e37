import { expect, test } from 'vitest';
import { abandonNamedRun } from '../../src/commands/runs/abandon-named-run.js';
import { aTerminal } from '../commands/a-terminal.js';
import { aJob, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, CLUSTER } from './a-cluster.js';

test('who abandons a run of workers learns that they may still send what they were given', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(10));
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, sendHere: false } }));
  const { run } = aClusterInMemory(workspace);
  const dies = run((method) => {
    if (method === 'readNews') throw new Error('the leader dies');
    return undefined;
  });
  expect(await dies.catch(() => 'died')).not.toBe(0);

  const { terminal, said } = aTerminal({ env: {}, isStderrTerminal: false });
  const directory = workspace.path(`out/sale/${workspace.runs()[0]}`);
  expect(await abandonNamedRun({ run: directory, json: true, dryRun: false }, terminal)).toBe(0);
  expect(said.stderr).toContain(`volley cluster drop ${workspace.plans()[0]}`);
});
