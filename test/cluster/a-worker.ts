import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import { work } from '../../src/verbs/work.js';

export type WorkFlags = Parameters<typeof work.run>[0];

/** As the command line reads them where none is given. */
const WORK_FLAGS: WorkFlags = {
  databaseEnv: undefined,
  databaseFile: undefined,
  run: undefined,
  untilDone: false,
  untilIdle: undefined,
  leaseSeconds: 30,
  allowUrl: undefined,
  allowSecretEnv: undefined,
  allowSecretFile: undefined,
  metricsFile: undefined,
  metricsPort: undefined,
  metricsHost: '127.0.0.1',
  json: true,
};

/** `volley work` in this process. */
export function runWorker(flags: Partial<WorkFlags>, host: Terminal): Promise<number> {
  return runVerb('work', work, { ...WORK_FLAGS, ...flags }, host);
}
