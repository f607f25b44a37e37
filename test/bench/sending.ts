import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRowStep } from '../../src/job/job.js';
import { kindOf } from '../../src/kinds/kinds.js';
import { type SandboxProcess, withSandbox } from '../sandbox/sandbox-process.js';
import { type BenchOptions, type Measured, measureInTurns, runProgram, SANDBOX, type Subject } from './measure.js';
import { copyRun, type PlannedJob, planJob } from './planned-job.js';
import type { Sending } from './rivals/read-bodies.js';
import { format, formatMb, printTable } from './table.js';

/** Enough for ten seconds and more of requests of one row; the rate does not change after that. */
const MOST_CONTACTS = 50_000;

/** SMS in batches of 1,000: journaled and synced against the bare posting of the same bytes. */
export async function benchApply({ directory, rows, runs }: BenchOptions): Promise<void> {
  // What a step of SMS gets that names none.
  const limits = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 8 };
  const job = await planJob(directory, { kind: 'sms', rows, limits });
  const title = `apply: ${format(job.messages, 0)} messages in ${format(job.requests, 0)} requests, 8 at once`;
  await compareSending(job, { title, unit: { name: 'messages', count: job.messages }, concurrency: 8, runs });
}

/** One request a row: an intent and an outcome are synced for each. */
export async function benchContacts({ directory, rows, runs }: BenchOptions): Promise<void> {
  const limits = { requestsPerSecond: 1800, concurrency: 64 };
  const job = await planJob(directory, { kind: 'contacts', rows: Math.min(rows, MOST_CONTACTS), limits });
  const title = `contacts: ${format(job.requests, 0)} requests of one row, 64 at once`;
  await compareSending(job, { title, unit: { name: 'requests', count: job.requests }, concurrency: 64, runs });
}

interface Comparison {
  readonly title: string;
  /** How many are posted in a second, and what they are called. */
  readonly unit: { readonly name: string; readonly count: number };
  readonly concurrency: number;
  readonly runs: number;
}

/** Sends a planned job without limits of rate, and the same bytes with rivals; each run meets a sandbox of its own. */
async function compareSending(job: PlannedJob, { title, unit, concurrency, runs }: Comparison): Promise<void> {
  const subjects = [
    subjectApply(job),
    subjectRival('(a) undici Pool without a journal: the ceiling', 'apply-ceiling.js', { job, concurrency }),
    subjectRival('(b) p-limit and fetch, results appended', 'apply-script.js', { job, concurrency }),
  ];
  const medians = await measureInTurns(subjects, runs);
  const ceiling = medians[1]?.seconds ?? 0;
  printTable(
    `${title}; medians of ${runs}`,
    ['', 'seconds of sending', `${unit.name}/s`, 'share of the ceiling', 'seconds of the whole process', 'peak RSS'],
    medians.map(({ name, seconds, wholeSeconds = 0, peakMb }) => [
      name,
      format(seconds),
      format(unit.count / seconds, 0),
      format(ceiling / seconds),
      format(wholeSeconds),
      formatMb(peakMb),
    ]),
  );
}

/** `seconds` is from the first request to the last answer, `wholeSeconds` the process with its start, outputs and summary. */
function subjectApply(job: PlannedJob): Subject {
  return {
    name: 'volley apply, limits lifted',
    measure: () =>
      measureSending(job, async (sandbox) => {
        const program = fileURLToPath(new URL('./apply-unlimited.js', import.meta.url));
        const run = copyRun(job, sandbox.origin);
        return runProgram({ args: [program, run], env: { VOLLEY_API_KEY: sandbox.credentials.apiKey } });
      }),
  };
}

function subjectRival(name: string, script: string, { job, concurrency }: { job: PlannedJob; concurrency: number }) {
  return {
    name,
    measure: () =>
      measureSending(job, async (sandbox) => {
        const program = fileURLToPath(new URL(`./rivals/${script}`, import.meta.url));
        const results = join(job.directory, 'results.ndjson');
        rmSync(results, { force: true });
        const sending: Sending = { ...addressOf(job, sandbox), requests: job.requestsFile, concurrency, results };
        return runProgram({ args: [program, JSON.stringify(sending)] });
      }),
  };
}

/** Where and how volley posts the job's requests. */
function addressOf({ plan }: PlannedJob, { origin, credentials }: SandboxProcess) {
  const [step] = plan.job.steps;
  if (step === undefined || !isRowStep(step)) throw new Error('The plan has no step with rows');
  const { path, headers } = kindOf(step).call(plan.job.service, Buffer.alloc(0), []);
  return { origin, path, headers: { ...headers, authorization: `Bearer ${credentials.apiKey}` } };
}

async function measureSending(
  { directory, requests }: PlannedJob,
  send: (sandbox: SandboxProcess) => ReturnType<typeof runProgram>,
): Promise<Measured> {
  return withSandbox(directory, SANDBOX, async (sandbox) => {
    const { seconds: wholeSeconds, peakMb, stdout } = await send(sandbox);
    const arrived = await sandbox.countRequests();
    if (arrived !== requests) throw new Error(`${arrived} requests arrived, expected ${requests}`);
    return { seconds: JSON.parse(stdout).sendingSeconds, wholeSeconds, peakMb };
  });
}
