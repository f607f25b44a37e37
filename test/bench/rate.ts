import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SandboxProcess, withSandbox } from '../sandbox/sandbox-process.js';
import { type BenchOptions, COMMAND, median, runProgram } from './measure.js';
import { copyRun, type JobToPlan, type PlannedJob, planJob } from './planned-job.js';
import { format, printTable } from './table.js';
import { type Arrival, achievedPerSecond, worstSecond } from './worst-second.js';

interface Setting {
  readonly name: string;
  readonly perSecond: number;
  readonly kind: JobToPlan['kind'];
  readonly limits: JobToPlan['limits'];
  /** What comes together in a request. */
  readonly batch: number;
}

const SERVER = fileURLToPath(new URL('./arrival-server.js', import.meta.url));
const HELD_SECONDS = 20;
/** The lane begins blocks of requests so far apart (throttle/pacer.ts). */
const BLOCK_SECONDS = 0.01;
/** A run is as long as it is, and does not vary as work does. */
const MOST_RUNS = 3;

const SETTINGS: readonly Setting[] = [
  ofRequests(10),
  ofRequests(100),
  ofRequests(1000),
  ofRequests(1800),
  {
    name: '10,000 messages/s, batches of 1,000',
    perSecond: 10_000,
    kind: 'sms',
    limits: { requestsPerSecond: 1800, messagesPerSecond: 10_000, concurrency: 16 },
    batch: 1000,
  },
];

function ofRequests(perSecond: number): Setting {
  const limits = { requestsPerSecond: perSecond, concurrency: 64 };
  return { name: `${format(perSecond, 0)} requests/s`, perSecond, kind: 'contacts', limits, batch: 1 };
}

/** The command at the limits of its job, as a bare server in a process of its own sees it: when the headers of each request were there. */
export async function benchRate({ directory, rows, runs }: BenchOptions): Promise<void> {
  const times = Math.min(runs, MOST_RUNS);
  const lines: string[][] = [];
  for (const [index, setting] of SETTINGS.entries()) {
    const { kind, limits, perSecond } = setting;
    const count = Math.min(rows, perSecond * HELD_SECONDS);
    const job = await planJob(join(directory, `${index}`), { kind, limits, rows: count });
    const seen: Arrival[][] = [];
    for (let run = 1; run <= times; run += 1) {
      process.stderr.write(`run ${run} of ${times}: ${setting.name}\n`);
      seen.push(await observe(job));
    }
    lines.push(describe(setting, seen));
  }
  printTable(
    `rate: at most ${HELD_SECONDS} s at each setting, as the server sees it; the median of ${times} and the worst of them`,
    ['set', 'requests', 'achieved/s', 'achieved / set', 'worst sliding second', '/ set', 'allowed'],
    lines,
  );
}

async function observe(job: PlannedJob): Promise<Arrival[]> {
  const observeRun = async (sandbox: SandboxProcess) => {
    const run = copyRun(job, sandbox.origin);
    await runProgram({ args: [COMMAND, 'apply', run, '--adopt'], env: { VOLLEY_API_KEY: sandbox.credentials.apiKey } });
    const requests = await sandbox.readRequests();
    if (requests.length !== job.requests) throw new Error(`${requests.length} requests, expected ${job.requests}`);
    return requests.map(({ atMs, messages }) => ({ atMs, amount: messages }));
  };
  return withSandbox(job.directory, [SERVER], observeRun);
}

function describe({ name, perSecond, batch }: Setting, seen: readonly Arrival[][]): string[] {
  const achieved = median(seen.map(achievedPerSecond));
  const worst = Math.max(...seen.map(worstSecond));
  const allowed = perSecond + Math.max(batch, perSecond * BLOCK_SECONDS);
  return [
    name,
    format(seen[0]?.length ?? 0, 0),
    format(achieved, 1),
    format(achieved / perSecond, 3),
    format(worst, 0),
    format(worst / perSecond, 3),
    format(allowed, 0),
  ];
}
