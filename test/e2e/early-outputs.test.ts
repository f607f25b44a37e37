import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { until } from './command.js';

const partsOf = (workspace: Workspace) =>
  workspace
    .runs()
    .flatMap((run) => readdirSync(workspace.path(`out/sale/${run}`)).filter((name) => name.endsWith('.part')));

function outputsOf(directory: string): Record<string, string> {
  const names = readdirSync(directory).filter((name) => /\.(csv|html)$|^summary/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

test.concurrent('outputs are begun while the process sends; killed, and resumed, it leaves those that `volley report` writes', async () => {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 40 });
  workspace.write('people.csv', `${people(300)}Nobody,\nTwin,+6591000001\n`);
  workspace.writeJob(
    aJob(workspace, { steps: [anSmsStep(), aContactsStep({ limits: { requestsPerSecond: 1000, concurrency: 16 } })] }),
  );
  const running = workspace.start(['run', 'job.yaml']);
  await until(() => partsOf(workspace).some((name) => name.startsWith('1-sms.results.csv.')));
  running.signal('SIGKILL');
  await running.ended;
  expect(partsOf(workspace)).not.toEqual([]);

  const resumed = workspace.run();
  await until(() => partsOf(workspace).some((name) => name.startsWith('2-contacts.results.csv.')));
  const { summary } = await resumed;

  expect(summary.balance).toMatchObject({ read: 604, unprocessed: 0 });
  expect(partsOf(workspace)).toEqual([]);
  const early = outputsOf(summary.directory);
  await workspace.volley('report', summary.directory);
  expect(outputsOf(summary.directory)).toEqual(early);
});
