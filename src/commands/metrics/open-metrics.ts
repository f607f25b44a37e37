import { resolve } from 'node:path';
import { createMetricsFile, type MetricsFile, readMetricsFile } from '../../metrics/metrics-file.js';
import { withFields } from '../../ports/log.js';
import { type Host, openLog, runtimeOf } from '../support/deps.js';
import { SecretKeeper } from '../terminal/terminal.js';
import { meterHost } from './meter-host.js';
import type { MetricsFlags } from './metrics-flags.js';
import { openMetricsPort, warnOfMetrics } from './open-metrics-port.js';
import { readLastEnd } from './read-last-end.js';
import { RunMeter } from './run-meter.js';

/** The meter of a command, and where its figures go. */
export interface OpenMetrics {
  /** For the command. */
  readonly host: Host;
  /** With the exit code, and the code of the error. Throws nothing. */
  end(exitCode: number, failure?: string): Promise<void>;
}

/** The process that has the job keeps its file; before `notBefore` nothing has begun. */
const NOT_ITS_TURN: ReadonlySet<string> = new Set(['lock-held', 'not-yet']);

/** Refuses, with UserError 'bad-flag', a port that cannot be had. */
export async function openMetrics(host: Host, flags: MetricsFlags): Promise<OpenMetrics> {
  const { files, clock } = runtimeOf(host);
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ event: 'metrics', job: meter.job }));
  const path = flags.file === undefined ? undefined : resolve(flags.file);
  const readLast = async (job: string) => {
    if (path !== undefined) meter.noteEnd(readLastEnd(await readMetricsFile(path), job));
  };
  const meter: RunMeter = new RunMeter({
    files,
    onBegun: async (job) => {
      await readLast(job);
      file?.begin();
    },
  });
  const render = () => meter.render();
  const file: MetricsFile | undefined =
    path === undefined
      ? undefined
      : createMetricsFile(path, { clock, render, warn: (error) => warnOfMetrics(log, `write ${path}`, error) });
  const server = await openMetricsPort(flags, { render, log });
  return {
    host: meterHost(host, meter),
    end: async (exitCode, failure) => {
      meter.close();
      if (meter.job === undefined || NOT_ITS_TURN.has(failure ?? '')) file?.leave();
      else {
        const endSeconds = clock.now() / 1000;
        await readLast(meter.job);
        meter.noteEnd({ exitCode, endSeconds, ...(exitCode === 0 ? { successSeconds: endSeconds } : {}) });
        await file?.finish();
      }
      await server?.close();
    },
  };
}
