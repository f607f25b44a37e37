import { resolve } from 'node:path';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { createMetricsFile, type MetricsFile } from './metrics-file.js';
import type { MetricsFlags } from './metrics-flags.js';
import type { MetricsServer } from './metrics-server.js';
import { openMetricsPort, warnOfMetrics } from './open-metrics-port.js';

/** Where the figures of a command go; each may be absent. */
export interface Outlets {
  /** Not begun yet. */
  readonly file: (MetricsFile & { readonly path: string }) | undefined;
  readonly server: MetricsServer | undefined;
}

/** Refuses, with UserError 'bad-flag', a port that cannot be had. */
export async function openOutlets(
  flags: MetricsFlags,
  { render, clock, log }: { render: () => Promise<string>; clock: Clock; log: Log },
): Promise<Outlets> {
  const server = await openMetricsPort(flags, { render, log });
  if (flags.file === undefined) return { file: undefined, server };
  const path = resolve(flags.file);
  const warn = (error: unknown) => warnOfMetrics(log, `write ${path}`, error);
  return { file: { path, ...createMetricsFile(path, { clock, render, warn }) }, server };
}
