import { expect, test } from 'vitest';
import { METRICS } from '../observe/read-metrics.js';
import { listNames, readPage, readRows, readSection } from './page.js';

const page = readPage('jobs/reference/metrics.md');

test.each(Object.entries(METRICS))(
  'the reference lists every metric, its type and its labels: %s',
  (heading, metrics) => {
    const rows = readRows(readSection(page, heading));
    const said = rows.map(([name = '', type, labels = '']) => ({
      name: listNames(name)[0],
      type,
      labelNames: listNames(labels),
    }));

    expect(said).toEqual(metrics.map(({ name, type, labelNames }) => ({ name, type, labelNames })));
  },
);

test('names follow Prometheus: a prefix, base units, and _total for counters alone', () => {
  const all = Object.values(METRICS).flat();

  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, type, help } of all) {
    expect(name).toMatch(/^volley_[a-z_]+$/);
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    expect(help).toMatch(/^[A-Z1].*\.$/);
  }
});
