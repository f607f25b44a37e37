import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { WorkMetrics } from '../../src/observe/work-metrics.js';
import { aContactsStep, aJob, anSmsStep, people } from './a-job.js';
import { aWorkspace, aWorkspaceInProcess } from './a-workspace.js';
import { until } from './command.js';
import { needPrometheus, needPromtool } from './of-the-machine.js';

const ALERTS = fileURLToPath(new URL('../../jobs/kubernetes/alerts.yaml', import.meta.url));
const promtool = needPromtool();
const prometheus = needPrometheus();
const METRICS_AT = /metrics are at (http:\S+?)\/metrics/;

function expectGood(text: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect(`${stdout}${stderr}`).toBe('');
  expect(status).toBe(0);
}

test.skipIf(promtool.isMissing)(
  promtool.title('promtool finds nothing to say about the metrics of a run, of a worker and of the listener'),
  async () => {
    const workspace = await aWorkspaceInProcess({ kind: 'reset-after', area: 'sms', nth: 2 });
    workspace.write('people.csv', people(30));
    workspace.writeJob(aJob(workspace, { steps: [aContactsStep(), anSmsStep()] }));
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

test.skipIf(prometheus.isMissing)(
  prometheus.title('Prometheus reads a run while it lives, and the alert on rows in doubt fires'),
  async () => {
    const workspace = await aWorkspace(
      { kind: 'reset-after', area: 'sms', nth: 2 },
      { kind: 'latency', area: 'sms', nth: 3, delayMs: 600_000 },
    );
    workspace.write('people.csv', people(30));
    workspace.writeJob(aJob(workspace));
    const run = workspace.start(['run', 'job.yaml', '--metrics-port', '0']);
    const { host } = new URL(await run.finds(METRICS_AT));
    workspace.writeJob(
      {
        global: { scrape_interval: '1s', evaluation_interval: '1s' },
        rule_files: [ALERTS],
        scrape_configs: [{ job_name: 'volley', static_configs: [{ targets: [host] }] }],
      },
      'prometheus.yaml',
    );

    const ask = await startPrometheus(workspace.path('prometheus.yaml'), workspace.path('tsdb'));

    const findAlerts = async () => {
      const { alerts } = await ask('alerts');
      return alerts.map(({ labels, state, value }: AlertNow) => ({ ...labels, state, value: Number(value) }));
    };
    await expect
      .poll(findAlerts, { timeout: 60_000 })
      .toEqual([{ alertname: 'VolleyRowsInDoubt', job_name: 'sale', severity: 'warning', state: 'firing', value: 10 }]);
    const { result } = await ask('query?query=volley_rows_total');
    // The label of Prometheus itself does not hide Volley's.
    expect(result.map(({ metric, value }: Sample) => [metric.job, metric.job_name, metric.outcome, value[1]])).toEqual(
      expect.arrayContaining([
        ['volley', 'sale', 'accepted', '10'],
        ['volley', 'sale', 'in_doubt', '10'],
      ]),
    );
  },
);

interface AlertNow {
  readonly labels: object;
  readonly state: string;
  readonly value: string;
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Gives what asks its API; it ends with the test. */
async function startPrometheus(config: string, data: string) {
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${data}`, '--web.listen-address=127.0.0.1:0'];
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  await until(() => said.includes('Server is ready'));
  const address = /msg="Listening on" address=(\S+)/.exec(said)?.[1];
  return async (path: string) => {
    const answer = await fetch(`http://${address}/api/v1/${path}`);
    const { data } = JSON.parse(await answer.text());
    return data;
  };
}
