import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { benchCluster, benchDistance } from './cluster.js';
import type { BenchOptions } from './measure.js';
import { benchPlan } from './plan.js';
import { benchRate } from './rate.js';
import { benchResume } from './resume.js';
import { benchRun } from './run.js';
import { benchApply, benchContacts } from './sending.js';
import { benchStart } from './start.js';

const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  run: benchRun,
  plan: benchPlan,
  apply: benchApply,
  contacts: benchContacts,
  rate: benchRate,
  resume: benchResume,
  start: benchStart,
  cluster: benchCluster,
  distance: benchDistance,
};
const NAMES = Object.keys(BENCHES);

const { names, rows, runs } = await yargs(hideBin(process.argv))
  .usage(`npm run bench -- [${NAMES.join('|')} …]`)
  .command('$0 [names..]', 'Measures Volley against others, on this machine, in turns', (command) =>
    command.positional('names', { choices: NAMES, array: true, type: 'string', describe: 'All where none is named' }),
  )
  .options({
    rows: { type: 'number', default: 1_000_000, describe: 'Rows of the generated input' },
    runs: { type: 'number', default: 5, describe: 'Runs of each; medians are printed' },
  })
  .strict()
  .parseAsync();

process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} cores\n`,
);
const chosen = names as string[] | undefined;
for (const name of chosen === undefined || chosen.length === 0 ? NAMES : chosen) {
  const directory = mkdtempSync(join(tmpdir(), `volley-bench-${name}-`));
  try {
    await BENCHES[name]?.({ directory, rows, runs });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
