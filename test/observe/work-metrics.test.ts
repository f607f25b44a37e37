import { expect, test } from 'vitest';
import { createContext } from '../../src/command/context.js';
import { nodeEnv } from '../../src/command/env.js';
import { WorkMetrics } from '../../src/observe/work-metrics.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Answered } from '../../src/run/run-event.js';
import { aTerminal } from '../command/a-terminal.js';
import { readMetrics } from './read-metrics.js';

const read = async (meter: WorkMetrics) => readMetrics(await meter.metrics());
const SMS = { step: 1, kind: 'sms' };
const LOST = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'ECONNRESET' } as const;

test('the lease is held only while the database has confirmed it in time', async () => {
  const meter = new WorkMetrics();
  const states = [
    undefined,
    { isFresh: false, lastBeatMs: undefined },
    { isFresh: true, lastBeatMs: 1_790_000_000_500 },
    { isFresh: false, lastBeatMs: 1_790_000_000_500 },
  ];
  const seen: unknown[] = [];
  for (const lease of states) {
    if (lease !== undefined) meter.watch({ type: 'lease', lease });
    const samples = await read(meter);
    seen.push([samples.get('volley_worker_lease_held'), samples.get('volley_worker_last_beat_timestamp_seconds')]);
  }

  expect(seen).toEqual([
    [0, 0],
    [0, 0],
    [1, 1_790_000_000.5],
    [0, 1_790_000_000.5],
  ]);
});

test('each job has figures of its own; what was claimed under a lease ends with it', async () => {
  const meter = new WorkMetrics();
  const lease = { isFresh: true, lastBeatMs: 1 };
  meter.watch({ type: 'lease', lease });
  meter.watch({ type: 'step', job: 'spring', ...SMS });
  meter.watch({ type: 'held', held: { count: 4 } });
  let answer = (_: Answered) => {};
  const answered = new Promise<Answered>((resolve) => {
    answer = resolve;
  });
  meter.watch({ type: 'request', area: 'sms', answered });
  meter.watch({ type: 'attempt', ...SMS, isAgain: true, isBreakerOpen: true });
  const before = await read(meter);
  meter.watch({ type: 'lease', lease });
  meter.watch({ type: 'step', job: 'autumn', ...SMS });
  meter.watch({ type: 'held', held: { count: 2 } });
  answer({ answer: LOST, seconds: 0.2 });
  await new Promise(setImmediate);
  const after = await read(meter);

  const of = (name: string, job: string) => [before, after].map((samples) => samples.get(`${name}{job_name="${job}"}`));
  expect(of('volley_worker_claimed_requests', 'spring')).toEqual([4, 0]);
  expect(of('volley_worker_claimed_requests', 'autumn')).toEqual([undefined, 2]);
  expect(after.get('volley_requests_total{area="sms",job_name="spring",status="no_answer"}')).toBe(1);
  expect(after.get('volley_retries_total{job_name="spring",kind="sms",step="1"}')).toBe(1);
  expect(after.get('volley_retries_total{job_name="autumn",kind="sms",step="1"}')).toBe(0);
});

test('a worker that has ended holds nothing, and no breaker is open', async () => {
  const meter = new WorkMetrics();
  meter.watch({ type: 'lease', lease: { isFresh: true, lastBeatMs: 1 } });
  meter.watch({ type: 'step', job: 'spring', ...SMS });
  meter.watch({ type: 'held', held: { count: 4 } });
  meter.watch({ type: 'attempt', ...SMS, isAgain: true, isBreakerOpen: true });
  meter.close();
  const samples = await read(meter);

  const names = [
    'volley_worker_running',
    'volley_worker_lease_held',
    'volley_worker_claimed_requests{job_name="spring"}',
    'volley_breaker_open{job_name="spring",kind="sms",step="1"}',
  ];
  expect(names.map((name) => samples.get(name))).toEqual([0, 0, 0, 0]);
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
