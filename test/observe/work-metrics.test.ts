import { expect, test } from 'vitest';
import { createContext } from '../../src/command/context.js';
import { nodeEnv } from '../../src/command/env.js';
import { WorkMetrics } from '../../src/observe/metrics.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Answered } from '../../src/run/run-events.js';
import { aTerminal } from '../command/a-terminal.js';
import { readMetrics } from './read-metrics.js';

const read = async (meter: WorkMetrics) => readMetrics(await meter.metrics());
const SMS = { step: 1, kind: 'sms' };
const LOST = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'ECONNRESET' } as const;

test('the lease is held only while the database has confirmed it in time', async () => {
  const meter = new WorkMetrics();
  const seen: unknown[] = [];
  for (const isFresh of [undefined, false, true, false]) {
    if (isFresh !== undefined) meter.watch({ type: 'lease', lease: { isFresh } });
    seen.push((await read(meter)).get('volley_worker_lease_held'));
  }

  expect(seen).toEqual([0, 0, 1, 0]);
});

test('each job has figures of its own, also of a request that is answered under the next one', async () => {
  const meter = new WorkMetrics();
  meter.watch({ type: 'step', job: 'spring', ...SMS });
  let answer = (_: Answered) => {};
  const answered = new Promise<Answered>((resolve) => {
    answer = resolve;
  });
  meter.watch({ type: 'request', area: 'sms', answered });
  meter.watch({ type: 'attempt', ...SMS, isBreakerOpen: true });
  meter.watch({ type: 'step', job: 'autumn', ...SMS });
  answer({ answer: LOST, seconds: 0.2 });
  await new Promise(setImmediate);
  const after = await read(meter);

  expect(after.get('volley_requests_total{area="sms",job_name="spring",status="no_answer"}')).toBe(1);
  expect(after.get('volley_breaker_open{job_name="spring",kind="sms",step="1"}')).toBe(1);
  expect(after.get('volley_breaker_open{job_name="autumn",kind="sms",step="1"}')).toBe(0);
});

test('a worker that has ended holds nothing, and no breaker is open', async () => {
  const meter = new WorkMetrics();
  meter.watch({ type: 'lease', lease: { isFresh: true } });
  meter.watch({ type: 'step', job: 'spring', ...SMS });
  meter.watch({ type: 'attempt', ...SMS, isBreakerOpen: true });
  meter.close();
  const samples = await read(meter);

  const names = [
    'volley_worker_running',
    'volley_worker_lease_held',
    'volley_breaker_open{job_name="spring",kind="sms",step="1"}',
  ];
  expect(names.map((name) => samples.get(name))).toEqual([0, 0, 0]);
});

test('a run that waits for its leader, and a database that does not answer or is slow, are seen until that is over', async () => {
  const meter = new WorkMetrics();
  const names = ['volley_worker_waits_for_leader', 'volley_database_lost', 'volley_database_answer_seconds'];
  const seen: unknown[] = [];
  for (const event of [
    undefined,
    { type: 'idle', waits: true },
    { type: 'database', seconds: undefined },
    { type: 'database', seconds: 0.25 },
    { type: 'step', job: 'spring', ...SMS },
    { type: 'idle', waits: false },
  ] as const) {
    if (event !== undefined) meter.watch(event);
    const samples = await read(meter);
    seen.push(names.map((name) => samples.get(name)));
  }

  expect(seen).toEqual([
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [1, 0, 0.25],
    [0, 0, 0.25],
    [0, 0, 0.25],
  ]);
});

test('a worker is well as long as its calls to the database end, also without an answer; one whose calls hang is not', async () => {
  let nowMs = 0;
  const { terminal, said } = aTerminal({ env: {}, isStderrTerminal: false });
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const context = createContext({ ...terminal, runtime: { ...nodeEnv, clock } });
  const seen: number[] = [];
  const isWell = async (passedMs: number) => {
    nowMs += passedMs;
    const [origin] = /http:[^"]+(?=\/metrics)/.exec(said.stderr) ?? [];
    seen.push((await fetch(`${origin}/healthz`)).status);
  };
  await WorkMetrics.measure({ metricsPort: 0, metricsHost: '127.0.0.1' }, context, async () => {
    await isWell(50_000);
    for (const seconds of [0.1, undefined]) {
      await context.emit({ type: 'database', seconds });
      await isWell(50_000);
    }
    await context.emit({ type: 'idle', waits: false });
    await isWell(11_000);
  });

  expect(seen).toEqual([200, 200, 200, 503]);
});
