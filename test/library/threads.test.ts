import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { apply, plan, type WrittenJob } from '../../src/library.js';
import { anSmsStep, people } from '../e2e/a-job.js';
import { aFolder } from '../plan/a-plan.js';

const LIBRARY = fileURLToPath(new URL('../../dist/library.js', import.meta.url));

/** A thread that applies a plan; its first message is of progress, its last one of the end. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
import(workerData.library).then(async ({ apply }) => {
  const stop = new AbortController();
  parentPort.once('message', () => stop.abort());
  const onProgress = ({ phase }) => parentPort.postMessage(phase);
  const { state } = await apply(workerData.directory, { onProgress, signal: stop.signal });
  parentPort.postMessage(state);
});`;

test('a run that a thread works on is refused to the other threads of its process', async ({ onTestFinished }) => {
  const directory = aFolder({ 'people.csv': people(25) });
  const steps = [anSmsStep({ batchSize: 1, limits: { requestsPerSecond: 1 } })];
  const job = { name: 'threads', service: { sandbox: true }, steps, output: 'out' } as unknown as WrittenJob;
  const planned = await plan(job, { directory });
  const workerData = { library: LIBRARY, directory: planned!.directory };
  const thread = new Worker(THREAD, { eval: true, workerData });
  onTestFinished(async () => {
    await thread.terminate();
  });
  const messages: string[] = [];
  const ended = new Promise((resolve, reject) => thread.once('exit', resolve).once('error', reject));
  thread.on('message', (message: string) => messages.push(message));
  await vi.waitFor(() => expect(messages).toContain('sending'), { timeout: 20_000, interval: 5 });

  await expect(apply(planned!.directory)).rejects.toMatchObject({ name: 'UserError', code: 'lock-held' });

  thread.postMessage('stop');
  await ended;
  expect(messages.at(-1)).toBe('stopped');
});

test('a second copy of Volley in one process is the same owner of a lock, not the process that comes after a dead one', async () => {
  vi.resetModules();
  const { nodeEnv: other } = await import('../../src/command/env.js');
  expect(other).not.toBe(nodeEnv);
  expect(other.owner).toEqual(nodeEnv.owner);
});
