import { envOf, type Host, openLog } from '../command/deps.js';
import { SecretKeeper } from '../command/terminal.js';
import { withFields } from '../ports/log.js';
import type { MetricsFlags } from './metrics-flags.js';
import { openOutlets } from './open-outlets.js';
import { WorkMeter } from './work-meter.js';

/** The meter of a worker. Refuses, with UserError 'bad-flag', a port that cannot be had. */
export async function openWorkMetrics(
  host: Host,
  flags: MetricsFlags,
): Promise<{ readonly meter: WorkMeter; end(): Promise<void> }> {
  const log = withFields(openLog(host, new SecretKeeper()), () => ({ event: 'metrics' }));
  const meter = new WorkMeter();
  const { file, server } = await openOutlets(flags, {
    render: () => meter.render(),
    clock: envOf(host).clock,
    log,
  });
  file?.begin();
  return {
    meter,
    end: async () => {
      meter.close();
      await file?.finish();
      await server?.close();
    },
  };
}
