import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WorkMetrics } from '../../src/observe/metrics.js';
import type { Summary } from '../../src/report/summary.js';
import { readMetrics, sumOf } from '../observe/read-metrics.js';
import { aContactsStep, anSmsStep, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { until } from './command.js';
import { needPromtool } from './of-the-machine.js';

const FILE = 'sale.prom';
const METRICS_AT = /metrics are at (http:\S+?)\/metrics/;
const read = (workspace: Workspace) => readMetrics(workspace.read(FILE));

/** Rows by outcome are those of the summary. */
function expectRows(samples: ReadonlyMap<string, number>, { steps }: Summary): void {
  for (const { number, balance } of steps) {
    const step = String(number);
    const rows = (outcome: string) => sumOf(samples, 'volley_rows_total', { step, outcome });
    const outcomes = { accepted: rows('accepted'), rejected: rows('rejected'), skipped: rows('skipped') };
    const unprocessed = sumOf(samples, 'volley_unprocessed_rows', { step });
    expect(balance).toEqual({ read: balance.read, ...outcomes, inDoubt: rows('in_doubt'), unprocessed });
  }
}

test('the figures of a run are those of its summary and of the service', async () => {
  const workspace = await aJobFor(
    `${people(30)}Nobody,12\nAgain,+6591000001\n`,
    { failOn: 'nothing', steps: [aContactsStep(), anSmsStep()] },
    { kind: 'reject-rows', area: 'sms', nth: 2, rows: 0.2 },
  );

  const { code, summary } = await workspace.run('--metrics-file', FILE);

  expect(code).toBe(0);
  const samples = read(workspace);
  expect(summary.steps[1]?.balance).toMatchObject({ read: 32, skipped: 1 });
  expectRows(samples, summary);
  const requests = workspace.requests();
  for (const area of ['sms', 'contacts']) {
    const own = requests.filter((request) => request.area === area);
    expect(sumOf(samples, 'volley_request_duration_seconds_count', { area })).toBe(own.length);
    for (const { status } of own) {
      const count = own.filter((request) => request.status === status).length;
      expect(sumOf(samples, 'volley_requests_total', { area, status: String(status) })).toBe(count);
    }
  }
  const job = { job_name: 'sale' };
  expect(sumOf(samples, 'volley_lane_limit_requests_per_second', { ...job, area: 'contacts' })).toBe(1800);
  expect(samples.get('volley_running{job_name="sale"}')).toBe(0);
  expect(samples.get('volley_last_exit_code{job_name="sale"}')).toBe(0);
  expect(samples.get('volley_last_success_timestamp_seconds{job_name="sale"}')).toBeCloseTo(Date.now() / 1000, -2);
  expect(samples.get('volley_disk_available_bytes{job_name="sale"}')).toBeGreaterThan(1);
  expect([...samples.keys()].filter((key) => /\+65|9100|Nobody|P1/.test(key))).toEqual([]);

  // Of another user, whole, and alone.
  expect(statSync(workspace.path(FILE)).mode & 0o777).toBe(0o644 & ~process.umask());
  expect(readdirSync(workspace.directory).filter((name) => name.includes('.prom'))).toEqual([FILE]);
});

test('rows in doubt are those of all runs of the job, until they are settled; the last success stays', async () => {
  const workspace = await aJobFor(people(3));
  /** The run, with its exit code, rows in doubt and last success as the metrics then have them. */
  const run = async () => {
    const ended = await workspace.run('--metrics-file', FILE);
    const samples = read(workspace);
    const success = sumOf(samples, 'volley_last_success_timestamp_seconds');
    return { ended, samples, success, figures: [ended.code, sumOf(samples, 'volley_in_doubt_rows')] };
  };
  const { figures, success } = await run();
  expect([figures, success]).toEqual([[0, 0], expect.any(Number)]);
  expect(success).toBeGreaterThan(0);

  workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 1 });
  workspace.write('people.csv', people(2, 10));
  const lost = await run();
  expect([lost.figures, lost.success]).toEqual([[3, 2], success]);
  expectRows(lost.samples, lost.ended.summary);
  expect(sumOf(lost.samples, 'volley_requests_total', { status: 'no_answer' })).toBe(1);

  expect((await run()).figures).toEqual([3, 2]);

  await workspace.settle(lost.ended.summary.directory, 'sent', 2);
  const settled = await run();
  expect(settled.figures).toEqual([0, 0]);
  expect(settled.success).toBeGreaterThan(success);
});

test('a port shows a run while it lives; another process on the job is refused, and leaves the file as it is', async () => {
  const workspace = await aJobFor(people(30), {}, { kind: 'latency', area: 'sms', nth: 2, delayMs: 600_000 });
  const running = workspace.start(['run', 'job.yaml', '--metrics-port', '0', '--metrics-file', FILE]);
  const origin = await running.finds(METRICS_AT);
  await until(() => workspace.requests().length === 2);
  const scrape = async () => readMetrics(await (await fetch(`${origin}/metrics`)).text());

  await expect.poll(async () => sumOf(await scrape(), 'volley_rows_total', { outcome: 'accepted' })).toBe(10);
  const samples = await scrape();
  expect(sumOf(samples, 'volley_unprocessed_rows')).toBe(20);
  expect(sumOf(samples, 'volley_running')).toBe(1);
  expect((await fetch(`${origin}/metrics`)).headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect((await fetch(`${origin}/`)).status).toBe(404);
  expect((await fetch(`${origin}/metrics`, { method: 'POST' })).status).toBe(405);

  expect((await workspace.run('--metrics-file', FILE)).code).toBe(75);
  expect(sumOf(read(workspace), 'volley_running')).toBe(1);
  expect(sumOf(read(workspace), 'volley_last_exit_code')).toBe(0);
  expect(workspace.read(FILE)).not.toContain('volley_last_exit_code{');

  running.signal('SIGTERM');
  await running.says('waiting for what is in flight');
  running.signal('SIGTERM');
  expect((await running.ended).code).toBe(75);
});

const promtool = needPromtool();

function expectGood(text: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect(`${stdout}${stderr}`).toBe('');
  expect(status).toBe(0);
}

test.skipIf(promtool.isMissing)(
  promtool.title('promtool finds nothing to say about the metrics of a run, of a worker and of the listener'),
  async () => {
    const lost = { kind: 'reset-after', area: 'sms', nth: 2 } as const;
    const workspace = await aJobFor(people(30), { steps: [aContactsStep(), anSmsStep()] }, lost);
    expect((await workspace.run('--metrics-file', 'sale.prom')).code).toBe(3);
    expectGood(workspace.read('sale.prom'));

    const meter = new WorkMetrics();
    meter.watch({ type: 'step', job: 'sale', step: 1, kind: 'sms' });
    const answer = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'ECONNRESET' } as const;
    meter.watch({ type: 'request', area: 'sms', answered: Promise.resolve({ answer, seconds: 0.2 }) });
    await new Promise(setImmediate);
    expectGood(await meter.metrics());

    const listener = workspace.start(['listen', '--port', '0', '--output', 'events.ndjson', '--metrics-port', '0']);
    const origin = await listener.finds(METRICS_AT);
    const { origin: hook } = JSON.parse(await listener.firstLine());
    expect((await fetch(hook, { method: 'POST', body: '{"a":1}' })).status).toBe(200);
    expectGood(await (await fetch(`${origin}/metrics`)).text());
  },
);
