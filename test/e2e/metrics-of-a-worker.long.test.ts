import { beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../cluster/postgres-server.js';
import { readMetrics, sumOf } from '../observe/read-metrics.js';
import { anSmsStep, people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';

const AT = /metrics are at (http:\S+?)\/metrics/;
const STEPS = [anSmsStep({ limits: { requestsPerSecond: 1000, messagesPerSecond: 25_000, concurrency: 3 } })];
const CLUSTER = { database: { env: 'VOLLEY_DATABASE_URL' } };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});

async function aCluster(...faults: Parameters<typeof aWorkspace>) {
  const workspace = await aWorkspace(...faults);
  workspace.write('people.csv', people(100));
  const env = { VOLLEY_DATABASE_URL: server.url(await server.createVolleyDatabase()) };
  return { workspace, start: (...args: string[]) => workspace.start(args, { env }) };
}

const scrape = async (origin: string) => readMetrics(await (await fetch(`${origin}/metrics`)).text());
const sms = (workspace: Workspace) => workspace.requests().filter(({ area }) => area === 'sms');

test('a worker shows at a port what it sends while it sends', async () => {
  const { workspace, start } = await aCluster({ kind: 'latency', area: 'sms', nth: 5, delayMs: 600_000 });
  workspace.change({ cluster: { ...CLUSTER, sendHere: false }, steps: STEPS });
  const worker = start('work', 'job.yaml', '--until-done', '--metrics-port', '0');
  const origin = await worker.finds(AT);
  const idle = await scrape(origin);
  expect(sumOf(idle, 'volley_worker_running')).toBe(1);
  expect(sumOf(idle, 'volley_requests_total')).toBe(0);

  const leader = start('run', 'job.yaml', '--metrics-port', '0');
  const leaderOrigin = await leader.finds(AT);
  const accepted = async () => sumOf(await scrape(leaderOrigin), 'volley_rows_total', { outcome: 'accepted' });
  await expect.poll(accepted, { timeout: 60_000 }).toBe(90);

  const samples = await scrape(origin);
  const job = { job_name: 'sale' };
  expect(sumOf(samples, 'volley_requests_total', { ...job, area: 'sms', status: '200' })).toBe(
    sms(workspace).length - 1,
  );
  expect(sumOf(samples, 'volley_request_duration_seconds_count', job)).toBe(sms(workspace).length - 1);
  expect(sumOf(samples, 'volley_lane_limit_requests_per_second', { ...job, area: 'sms' })).toBe(1000);
  expect(samples.get('volley_lane_share_ratio{area="sms",job_name="sale"}')).toBe(1);
  expect(samples.get('volley_breaker_open{job_name="sale",kind="sms",step="1"}')).toBe(0);
  expect(samples.get('volley_worker_lease_held')).toBe(1);
  // What is the leader's: counted there alone.
  expect([...samples.keys()].filter((name) => /^volley_(rows|unprocessed|running|last)/.test(name))).toEqual([]);
  expect([...samples.keys()].filter((key) => /\+65|9100|P1/.test(key))).toEqual([]);
  const led = await scrape(leaderOrigin);
  expect(sumOf(led, 'volley_requests_total')).toBe(0);

  for (const each of [worker, leader]) {
    each.signal('SIGTERM');
    await each.says('waiting for what is in flight');
    each.signal('SIGTERM');
    expect((await each.ended).code).toBe(75);
  }
});
