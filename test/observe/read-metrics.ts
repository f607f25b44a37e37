import type { Registry } from 'prom-client';
import { nodeEnv } from '../../src/command/env.js';
import { SendMetrics } from '../../src/observe/figures.js';
import { ListenMetrics, RunMetrics, WorkMetrics } from '../../src/observe/metrics.js';

type MetricFacts = Readonly<{ type: string; name: string; help: string; labelNames: readonly string[] }>;

const listOwn = (metrics: Registry) => metrics.getMetricsAsArray() as unknown as MetricFacts[];
const sent = listOwn(new SendMetrics());
const besideSent = (metrics: Registry) => listOwn(metrics).slice(sent.length);

/** All metrics that there are, under the headings of their page. */
export const METRICS: Readonly<Record<string, readonly MetricFacts[]>> = {
  'Of what is sent': sent,
  'Of a run': besideSent(new RunMetrics(nodeEnv)),
  'Of a worker': besideSent(new WorkMetrics()),
  'Of the listener': listOwn(new ListenMetrics(async () => undefined)),
};

/** The samples of a text for Prometheus: name with its labels, in the order of their names, and value. */
export function readMetrics(text: string): Map<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const sorted = [...labels.matchAll(/\w+="[^"]*"/g)].map(([label]) => label).sort();
      return [sorted.length === 0 ? name : `${name}{${sorted.join(',')}}`, Number(value)];
    }),
  );
}

/** The sum of the samples of a metric that have these labels. */
export function sumOf(samples: ReadonlyMap<string, number>, name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return [...samples]
    .filter(([key]) => key.split('{', 1)[0] === name && wanted.every((label) => key.includes(label)))
    .reduce((sum, [, value]) => sum + value, 0);
}
