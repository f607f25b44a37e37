import { UserError } from '../domain/errors.js';
import type { MetricsFlags } from '../observe/metrics-outlets.js';
import { readPort, textOption } from './verb.js';

/** Of verbs that serve. */
export const metricsPortOptions = {
  'metrics-port': textOption('Port that serves the metrics for Prometheus at /metrics; 0 takes any free port'),
  'metrics-host': {
    describe: 'Address that the metrics port is on',
    type: 'string',
    default: '127.0.0.1',
    requiresArg: true,
  },
} as const;

/** Of verbs that send the rows of a job. */
export const metricsOptions = {
  'metrics-file': textOption(
    'File that gets the metrics for Prometheus, every 15 s and at the end; its name ends in .prom, for the textfile collector of the node exporter',
  ),
  ...metricsPortOptions,
} as const;

/** Undefined where no metrics are asked for. */
export function readMetricsFlags(given: {
  readonly metricsFile?: string | undefined;
  readonly metricsPort: string | undefined;
  readonly metricsHost: string;
}): MetricsFlags | undefined {
  const { metricsFile: file, metricsPort: port, metricsHost: host } = given;
  if (file === undefined && port === undefined) return undefined;
  if (file !== undefined && !/[^/]\.prom$/.test(file)) {
    throw new UserError(
      'bad-flag',
      `Cannot write metrics to ${JSON.stringify(file)}: expected a name that ends in .prom`,
      { hint: 'The collector reads no other, and no other file is replaced by mistake.' },
    );
  }
  return { file, port: port === undefined ? undefined : readPort(port, 'metrics-port'), host };
}
