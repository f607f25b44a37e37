import type { Host } from '../command/deps.js';
import { describeFailure } from '../command/failure.js';
import type { CommandEnd } from '../command/runner.js';
import type { MetricsFlags } from './metrics-outlets.js';

/**
 * Runs a command with a meter on it, where the flags ask for one; else nothing of it is loaded. A port that cannot be had is refused
 * before the command begins; whatever else fails is a warning.
 */
export async function meterCommand(
  host: Host,
  flags: MetricsFlags | undefined,
  task: (host: Host) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  if (flags === undefined) return task(host);
  const { openRunMetrics } = await import('./run-metrics.js');
  const metrics = await openRunMetrics(host, flags);
  try {
    const end = await task(metrics.host);
    await metrics.end(end.exitCode);
    return end;
  } catch (error) {
    const { exitCode, error: failure } = describeFailure(error);
    await metrics.end(exitCode, failure.code);
    throw error;
  }
}

/** The same for a worker. */
export async function meterWork<T>(
  host: Host,
  flags: MetricsFlags | undefined,
  task: (host: Host) => Promise<T>,
): Promise<T> {
  if (flags === undefined) return task(host);
  const { openWorkMetrics } = await import('./work-metrics.js');
  const metrics = await openWorkMetrics(host, flags);
  return task(metrics.host).finally(metrics.end);
}
