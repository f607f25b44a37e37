import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { METRICS_EVERY_MS, openOutlets } from '../../src/observe/metrics-outlets.js';
import type { Clock } from '../../src/ports/clock.js';
import { until } from '../e2e/command.js';
import { aFolder } from '../plan/a-plan.js';

/** A file whose clock goes on when the test says so, and whose text is the number of the writing. */
async function aMetricsFile({ name = 'a.prom', metrics }: { name?: string; metrics?: () => Promise<string> } = {}) {
  const directory = aFolder();
  const slept: number[] = [];
  const warnings: string[] = [];
  let wake = () => {};
  let written = 0;
  const clock: Clock = {
    now: () => 0,
    monotonicMs: () => 0,
    sleep: (delayMs, signal) =>
      new Promise((resolve) => {
        slept.push(delayMs);
        wake = resolve;
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const file = await openOutlets(
    { metricsFile: join(directory, name), metricsPort: undefined, metricsHost: '' },
    { metrics: metrics ?? (async () => `${++written}\n`), contentType: 'text/plain; version=0.0.4; charset=utf-8' },
    { env: { clock }, log: { info: () => {}, warn: (text) => warnings.push(text), error: () => {} } },
  );
  return {
    file,
    directory,
    slept,
    warnings,
    wake: () => wake(),
    read: () => readFileSync(join(directory, name), 'utf8'),
  };
}

test('is written at once, then steadily, and for the last time at the end', async () => {
  const { file, directory, slept, wake, read } = await aMetricsFile();
  file.begin();
  await until(() => slept.length === 1);
  expect(read()).toBe('1\n');
  wake();
  await until(() => slept.length === 2);
  expect(read()).toBe('2\n');
  await file.finish();
  expect(read()).toBe('3\n');
  expect(slept.slice(0, 2)).toEqual([METRICS_EVERY_MS, METRICS_EVERY_MS]);
  expect(readdirSync(directory)).toEqual(['a.prom']);
});

test('warns once of what fails, however often it does', async () => {
  const { file, slept, warnings, wake } = await aMetricsFile({ name: 'none/a.prom' });
  file.begin();
  await until(() => slept.length === 1);
  wake();
  await until(() => slept.length === 2);
  await file.finish();
  expect(warnings).toEqual([expect.stringContaining('no such file or directory')]);
});

test('does not hold a command that has ended where a disk does not answer', async () => {
  const { file, slept, wake } = await aMetricsFile({ metrics: () => new Promise(() => {}) });
  file.begin();
  const finished = file.finish();
  await until(() => slept.length === 1);
  wake();
  await finished;
});

test('a command that leaves it writes no more', async () => {
  const { file, slept, read } = await aMetricsFile();
  file.begin();
  await until(() => slept.length === 1);
  await file.leave();
  expect(read()).toBe('1\n');
});
