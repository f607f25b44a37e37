import { envOf, type Host, openLog } from '../command/deps.js';
import { SecretKeeper } from '../command/terminal.js';
import { withFields } from '../ports/log.js';
import { meterHost } from './meter-host.js';
import { readMetricsFile } from './metrics-file.js';
import type { MetricsFlags } from './metrics-flags.js';
import { openOutlets } from './open-outlets.js';
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
  const { files, clock } = envOf(host);
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ event: 'metrics', job: meter.job }));
  const readLast = async (job: string) => {
    if (file !== undefined) meter.noteEnd(readLastEnd(await readMetricsFile(file.path), job));
  };
  const meter: RunMeter = new RunMeter({
    files,
    onBegun: async (job) => {
      await readLast(job);
      file?.begin();
    },
  });
  const { file, server } = await openOutlets(flags, { render: () => meter.render(), clock, log });
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
