import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf } from '../e2e/a-job.js';
import { until } from '../e2e/command.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';

/** A leader that sends nothing itself, and a worker that has read a key from its own file, and waits for a run. */
async function aWaitingWorker(other: object = {}) {
  const job = { cluster: { ...CLUSTER, sendHere: false }, steps: [anSmsStep()] };
  const workspace = await aJobOf(30, job);
  const service = { credentials: { apiKey: { file: 'key' } } };
  const write = (changes: object) =>
    workspace.writeJob(aJob(workspace, { ...job, service, ...changes }), 'worker.yaml');
  write(other);
  const tell = (text: string) => workspace.write('key', text);
  tell('a-key-of-long-ago');
  const { work, run } = aClusterInMemory(workspace);
  let calls = 0;
  const worker = work(() => void calls++, {}, 'worker.yaml');
  await until(() => calls > 3);
  return { workspace, tell, write, worker, run, key: workspace.sandbox.credentials.apiKey };
}

test('a worker that waited while the key in its file was changed sends with the new one', async () => {
  const { workspace, tell, worker, run, key } = await aWaitingWorker();
  tell(key);

  expect([await run(), await worker.ended]).toEqual([0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('a worker whose file has no key as a run begins leaves the run to others, says so once, and sends once the file has one', async () => {
  const { workspace, tell, worker, run, key } = await aWaitingWorker();
  tell('');
  const ended = run();
  await until(() => worker.said.stderr.includes('leaves run'));
  tell(key);

  expect([await ended, await worker.ended]).toEqual([0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
  expect(worker.said.stderr.match(/leaves run \w+ to others: Cannot read the API key of sms/g)).toHaveLength(1);
});

test('a worker whose job file is broken as a run begins, or agrees no more, leaves the run to others, and sends once it is whole', async () => {
  const { workspace, tell, worker, run, key, write } = await aWaitingWorker({ guards: { maxFailedPercent: 33 } });
  tell(key);
  workspace.write('worker.yaml', '{ name: ');
  const ended = run();
  await until(() => worker.said.stderr.includes('leaves run'));
  write({});

  expect([await ended, await worker.ended]).toEqual([0, 0]);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
  expect(worker.said.stderr).toMatch(/leaves run \w+ to others: Cannot use the job \S+worker\.yaml/);
});
