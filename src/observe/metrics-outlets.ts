import { resolve } from 'node:path';
import { describeDisk, isDiskError } from '../command/disk-error.js';
import { UserError } from '../domain/errors.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { createMetricsFile } from './metrics-file.js';
import { type MetricsServer, serveMetrics } from './metrics-server.js';

/** Where the figures of a command go; each may be absent. */
export interface MetricsFlags {
  /** Ends in `.prom`. */
  readonly file: string | undefined;
  readonly port: number | undefined;
  /** That the port is on. */
  readonly host: string;
}

/** The file, not begun yet, and the port that the flags ask for. Refuses, with UserError 'bad-flag', a port that cannot be had. */
export async function openOutlets(
  flags: MetricsFlags,
  { render, clock, log }: { render: () => Promise<string>; clock: Clock; log: Log },
) {
  const server = await openMetricsPort(flags, render, log);
  if (flags.file === undefined) return { file: undefined, server };
  const path = resolve(flags.file);
  const warn = (error: unknown) => warnOfMetrics(log, `write ${path}`, error);
  return { file: { path, ...createMetricsFile(path, { clock, render, warn }) }, server };
}

/** Serves the metrics where the flags ask for a port. Refuses, with UserError 'bad-flag', one that cannot be had. */
export async function openMetricsPort(
  { host, port }: Pick<MetricsFlags, 'host' | 'port'>,
  render: () => Promise<string>,
  log: Log,
): Promise<MetricsServer | undefined> {
  if (port === undefined) return undefined;
  try {
    const warn = (error: unknown) => warnOfMetrics(log, 'serve metrics', error);
    const server = await serveMetrics({ host, port }, { render, warn });
    log.info(`metrics are at ${server.origin}/metrics`);
    return server;
  } catch (error) {
    throw new UserError(
      'bad-flag',
      `Cannot serve metrics on ${host}:${port}: ${explain(error)}, expected a free port`,
      {
        hint: 'Nothing was sent. Choose another --metrics-port, or 0 for any free one; --metrics-host must be an address of this machine.',
      },
    );
  }
}

/** What is measured goes on without its metrics. */
function warnOfMetrics(log: Log, doing: string, error: unknown): void {
  log.warn(`Cannot ${doing}: ${explain(error)}; all else goes on`);
}

function explain(error: unknown): string {
  if (isDiskError(error)) return describeDisk(error).message.replace(/^.*?: /, '');
  return error instanceof Error ? error.name : String(error);
}
