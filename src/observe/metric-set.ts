import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricFacts } from './metric-list.js';

export type Labels = Readonly<Record<string, string | number>>;

/** One metric, whatever its type. */
export interface Metric {
  /** Adds to a counter or a gauge; a histogram takes the value. */
  add(value: number, labels?: Labels): void;
  /** Sets a gauge, or a counter whose figure is kept elsewhere. */
  set(value: number, labels?: Labels): void;
}

/** Metrics, and their text as Prometheus reads it. */
export interface MetricSet<Table> {
  readonly metrics: { readonly [Key in keyof Table]: Metric };
  render(): Promise<string>;
}

/** The type of that text. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Loads the library: import it on demand. `shared` are labels of all of them, as they are when a value comes. */
export function createMetricSet<Table extends Readonly<Record<string, MetricFacts>>>(
  table: Table,
  shared: Labels = {},
): MetricSet<Table> {
  const registry = new Registry();
  const metrics = Object.fromEntries(
    Object.entries(table).map(([key, facts]) => [key, createMetric(facts, { registry, shared })]),
  ) as MetricSet<Table>['metrics'];
  return { metrics, render: () => registry.metrics() };
}

function createMetric(facts: MetricFacts, { registry, shared }: { registry: Registry; shared: Labels }): Metric {
  const { type, name, help, labelNames, buckets = [] } = facts;
  const options = { name, help, labelNames, registers: [registry] };
  const all = (labels: Labels = {}) => ({ ...shared, ...labels });
  switch (type) {
    case 'counter': {
      const counter = new Counter(options);
      return {
        add: (value, labels) => counter.inc(all(labels), value),
        set: (value, labels) => {
          counter.remove(all(labels));
          counter.inc(all(labels), value);
        },
      };
    }
    case 'gauge': {
      const gauge = new Gauge(options);
      return {
        add: (value, labels) => gauge.inc(all(labels), value),
        set: (value, labels) => gauge.set(all(labels), value),
      };
    }
    case 'histogram': {
      const histogram = new Histogram({ ...options, buckets: [...buckets] });
      const add: Metric['add'] = (value, labels) => histogram.observe(all(labels), value);
      return { add, set: add };
    }
  }
}
