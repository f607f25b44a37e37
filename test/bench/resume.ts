import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JOURNAL_FILE } from '../../src/plan/format/plan-file.js';
import { Life, sleep, waitFor } from '../kill/life.js';
import { withSandbox } from '../sandbox/sandbox-process.js';
import { type BenchOptions, COMMAND, measureInTurns, SANDBOX, type Subject } from './measure.js';
import { copyRun, JOB_FILE, type JobToPlan, keepRun, type PlannedJob, planJob, writeJob } from './planned-job.js';
import { format, printTable } from './table.js';

const KILLED = 'killed';
const ENV = { VOLLEY_API_KEY: 'any' };
const START_TIMEOUT_MS = 60_000;
/** The slowest sandbox takes some 2,000 requests a second. */
const HALF_TIMEOUT_MS = 900_000;
/** A lane waits out the second after the last request of the process before it; that is no cost of the resume. */
const QUIET_MS = 1500;

const SMS: Omit<JobToPlan, 'rows'> = {
  kind: 'sms',
  limits: { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 8 },
};
const CONTACTS: Omit<JobToPlan, 'rows'> = { kind: 'contacts', limits: { requestsPerSecond: 1800, concurrency: 64 } };

/** From the start of the process to its first request, when one before it was killed in the middle of the rows. */
export async function benchResume({ directory, rows, runs }: BenchOptions): Promise<void> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const subjects = [
      ...(await prepare(join(directory, 'sms'), { ...SMS, rows }, server)),
      ...(await prepare(join(directory, 'contacts'), { ...CONTACTS, rows }, server)),
    ];
    await sleep(QUIET_MS);
    const medians = await measureInTurns(subjects, runs);
    printTable(
      `resume: ${format(rows, 0)} rows, start to first request; medians of ${runs}`,
      ['', 'seconds', 'journal'],
      medians.map(({ name, seconds }, index) => [name, format(seconds, 3), formatJournal(subjects[index]?.journalMb)]),
    );
  } finally {
    server.close();
  }
}

interface Resumed extends Subject {
  readonly journalMb: number | undefined;
}

/** The plan as it was made, and as the killed process left it: both start, once as `apply` and once as `run`. */
async function prepare(directory: string, toPlan: JobToPlan, server: Server): Promise<Resumed[]> {
  const job = await planJob(directory, toPlan);
  process.stderr.write(`sending half of ${format(job.requests, 0)} requests, to be killed there\n`);
  const journalMb = await killHalfway(job);
  const origin = originOf(server);
  writeJob(directory, toPlan, origin);
  const { kind } = toPlan;
  const measure = (from: string | undefined, argsOf: (run: string) => readonly string[]) => async () => {
    const run = copyRun(job, origin, from);
    return { seconds: await timeFirstRequest(argsOf(run), { directory, server }) };
  };
  return [
    {
      name: `${kind}: volley run JOB, after the kill`,
      journalMb,
      measure: measure(KILLED, () => ['run', join(directory, JOB_FILE)]),
    },
    {
      name: `${kind}: volley apply RUN, after the kill`,
      journalMb,
      measure: measure(KILLED, (run) => ['apply', run, '--adopt']),
    },
    {
      name: `${kind}: volley apply RUN, nothing sent yet`,
      journalMb: undefined,
      measure: measure(undefined, (run) => ['apply', run, '--adopt']),
    },
  ];
}

/** Returns how large the journal is by then. */
async function killHalfway(job: PlannedJob): Promise<number> {
  const { directory, requests } = job;
  return withSandbox(directory, SANDBOX, async (sandbox) => {
    const run = copyRun(job, sandbox.origin);
    const program = fileURLToPath(new URL('./apply-unlimited.js', import.meta.url));
    const life = new Life(program, [run], { cwd: directory, env: { VOLLEY_API_KEY: sandbox.credentials.apiKey } });
    const untilMs = performance.now() + HALF_TIMEOUT_MS;
    while ((await sandbox.countRequests()) < requests / 2 && !life.isOver && performance.now() < untilMs)
      await sleep(20);
    life.signal('SIGKILL');
    const { signal, stderr } = await life.ended;
    if (signal !== 'SIGKILL') throw new Error(`It ended before it was killed: ${stderr.slice(-2000)}`);
    const journalMb = statSync(join(run, JOURNAL_FILE)).size / 1e6;
    keepRun(job, KILLED);
    return journalMb;
  });
}

/** The server is this process's own, and answers nothing: the command is ended when its first request is there. */
async function timeFirstRequest(args: readonly string[], { directory, server }: { directory: string; server: Server }) {
  let firstMs: number | undefined;
  const note = () => {
    firstMs ??= performance.now();
  };
  server.on('request', note);
  const startMs = performance.now();
  const life = new Life(COMMAND, args, { cwd: directory, env: ENV });
  const hasCome = await waitFor(life, () => firstMs !== undefined, { timeoutMs: START_TIMEOUT_MS });
  life.signal('SIGKILL');
  const { stderr } = await life.ended;
  server.off('request', note);
  server.closeAllConnections();
  if (!hasCome || firstMs === undefined) throw new Error(`${args.join(' ')} sent nothing: ${stderr.slice(-2000)}`);
  return (firstMs - startMs) / 1000;
}

function formatJournal(mb: number | undefined): string {
  return mb === undefined ? 'none' : `${format(mb, 1)} MB`;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
