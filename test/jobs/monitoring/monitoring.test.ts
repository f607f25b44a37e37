import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { needPromtool } from '../../e2e/of-the-machine.js';
import { METRICS } from '../../observe/read-metrics.js';
import { aFolder } from '../../plan/a-plan.js';

const KIT = fileURLToPath(new URL('../../../jobs/kubernetes/', import.meta.url));
const CASES = fileURLToPath(new URL('alert-cases.yaml', import.meta.url));
const promtool = needPromtool();

type Alert = Readonly<{ alert: string; expr: string }>;

const alerts: Alert[] = parse(readFileSync(`${KIT}alerts.yaml`, 'utf8')).groups.flatMap(
  ({ rules }: { rules: Alert[] }) => rules,
);
const dashboard = JSON.parse(readFileSync(`${KIT}dashboard.json`, 'utf8'));
const panels: { title: string; targets: { expr: string }[] }[] = dashboard.panels;
const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr })));

/** Names of samples, those of a histogram included. */
const SAMPLES = new Set(
  Object.values(METRICS)
    .flat()
    .flatMap(({ name, type }) => (type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name])),
);

test('every alert and every panel asks for metrics that Volley has, and for no other', () => {
  const asked = [...alerts.map(({ alert, expr }) => ({ name: alert, expr })), ...queries];
  const unknown = asked.flatMap(({ name, expr }) => {
    const names = expr.match(/\b[a-z]+_[a-z_]+\b(?=[{[) ]|$)/g)?.filter((each) => !NO_METRIC.test(each)) ?? [];
    return names.length === 0 ? [`${name}: no metric`] : names.filter((each) => !SAMPLES.has(each));
  });

  expect(asked.length).toBeGreaterThan(25);
  expect(unknown).toEqual([]);
});

/** Functions and labels of PromQL with a line in their names. */
const NO_METRIC = /^(histogram_quantile|max_over_time|job_name)$/;

test('there is an alert for each of what must not go unseen', () => {
  expect(alerts.map(({ alert }) => alert)).toEqual([
    'VolleyRowsInDoubt',
    'VolleyRunFailed',
    'VolleyRunStopped',
    'VolleyNoSuccess',
    'VolleyBreakerOpen',
    'VolleyNothingSent',
    'VolleyDiskAlmostFull',
    'VolleyWorkerCutOff',
    'VolleyNoLeader',
    'VolleyDatabaseLost',
    'VolleyDatabaseSlow',
    'VolleyListenerDiskAlmostFull',
    'VolleyListenerNotAccepting',
  ]);
});

test.skipIf(promtool.isMissing)(promtool.title('promtool accepts the alerts, and each fires when it should'), () => {
  expect(runPromtool('check', 'rules', `${KIT}alerts.yaml`)).toContain('13 rules found');
  expect(runPromtool('test', 'rules', CASES)).toContain('SUCCESS');
});

test.skipIf(promtool.isMissing)(promtool.title('promtool can read every query of the dashboard'), () => {
  const rules = queries.map(({ expr }, index) => ({
    record: `query_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job_name', '.*'),
  }));
  const file = join(aFolder(), 'queries.yaml');
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
  expect(runPromtool('check', 'rules', file)).toContain(`${queries.length} rules found`);
});

function runPromtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return `${stdout}${stderr}`;
}
