import { expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { aJob, anSmsStep, aStepForTomorrow, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { runCommandInProcess } from './command-in-process.js';

/** What keeps a process alive when a command has ended. */
const openServers = () => process.getActiveResourcesInfo().filter((name) => /Server|Worker/.test(name)).length;

/** Sent to a sandbox within the command, for tomorrow. */
function aSandboxJob(workspace: Workspace, changes: object = {}): object {
  const service = { sandbox: true, bases: undefined, credentials: undefined, giveUpAfterSeconds: 1 };
  return aJob(workspace, { service, steps: [aStepForTomorrow()], ...changes });
}

const FAILING = ['loadReader', 'loadLane', 'loadTransport', 'loadStore'] as const;
const COMMANDS = [
  ['run', 'again.yaml'],
  ['test', 'again.yaml', '--to', '+6598000001'],
  ['cancel', 'job.yaml'],
  ['verify', 'start', '+6598000001', '--job', 'job.yaml'],
];

test.each(oneIn(2, FAILING))('whatever a command had opened is closed where %s fails', async (port) => {
  const workspace = await aJobFor(people(3));
  workspace.write('more.csv', people(3, 4));
  workspace.write('database.txt', 'postgres://127.0.0.1:1/volley');
  workspace.writeJob(aSandboxJob(workspace));
  const cluster = { database: { file: 'database.txt' } };
  const steps = [anSmsStep({ input: { files: 'more.csv' } })];
  workspace.writeJob(aSandboxJob(workspace, { cluster, steps }), 'again.yaml');
  expect((await workspace.run()).code).toBe(0);
  const before = openServers();
  const fail = async () => {
    throw new Error('it cannot be loaded');
  };
  const runtime = { [port]: fail };

  for (const args of COMMANDS) {
    const { env, directory: cwd } = workspace;
    await runCommandInProcess(args, { cwd, env, runtime });
    expect(openServers(), args.join(' ')).toBe(before);
  }
});
