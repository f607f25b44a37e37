import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import {
  encodePlan,
  JOURNAL_FILE,
  PLAN_FILE,
  type Plan,
  readPlan,
  requestsFile,
} from '../../src/plan/format/plan-file.js';
import { nodeFiles } from '../../src/storage/files.js';
import { writeRecipients } from './input.js';
import { COMMAND, runProgram } from './measure.js';

export type SentKind = 'sms' | 'contacts';

export interface JobToPlan {
  readonly kind: SentKind;
  readonly rows: number;
  readonly limits: {
    readonly requestsPerSecond: number;
    readonly messagesPerSecond?: number;
    readonly concurrency: number;
  };
}

/** A job of one step that was planned and not sent. Its run is copied for each run of a bench; all copies stand at `out`. */
export interface PlannedJob {
  /** Holds recipients.csv, job.yaml, the run as it was planned and the copy of it that is sent. */
  readonly directory: string;
  readonly plan: Plan;
  readonly requests: number;
  readonly messages: number;
  /** The lines of the requests, as planned. */
  readonly requestsFile: string;
}

export const JOB_FILE = 'job.yaml';
const PLANNED = 'planned';
const OUT = 'out';
/** Stands in the plan for the address of a server that is not known yet. */
const NO_ORIGIN = 'http://127.0.0.1:9';
const TEXT = 'Hi {{ first_name }}, {{ offer }} at ACME {{ city }} until Sunday. Your number: {{ customer_id }}.';
const BATCH_SIZE = 1000;

/** Writes the input and plans it with the command. */
export async function planJob(directory: string, job: JobToPlan): Promise<PlannedJob> {
  mkdirSync(directory, { recursive: true });
  await writeRecipients(join(directory, 'recipients.csv'), job.rows);
  writeJob(directory, job, NO_ORIGIN);
  const { stdout } = await runProgram({ args: [COMMAND, 'plan', join(directory, JOB_FILE)] });
  const planned = relative(join(directory, OUT), JSON.parse(stdout).directory);
  renameSync(join(directory, OUT), join(directory, PLANNED));
  const plan = await readPlan(nodeFiles, join(directory, PLANNED, planned));
  const [step] = plan.steps;
  if (step === undefined) throw new Error('The plan has no step');
  const { requests, messages } = step.counts;
  return { directory, plan, requests, messages, requestsFile: requestsFile(join(directory, PLANNED, planned), step) };
}

export function writeJob(directory: string, { kind, limits }: JobToPlan, origin: string): void {
  const job = {
    name: 'bench',
    service: {
      account: 'acme',
      credentials: { apiKey: { env: 'VOLLEY_API_KEY' } },
      bases: { sms: origin, contacts: origin },
    },
    steps: [{ kind, input: { files: 'recipients.csv', country: 'SG' }, limits, ...SETTINGS[kind] }],
    // Numbers that are none are part of the input.
    failOn: 'nothing',
    output: OUT,
  };
  writeFileSync(join(directory, JOB_FILE), JSON.stringify(job));
}

const SETTINGS: Readonly<Record<SentKind, object>> = {
  sms: { destination: 'mobile', template: { text: TEXT }, batchSize: BATCH_SIZE },
  contacts: { fields: { externalId: 'customer_id', firstName: 'first_name', msisdn: 'mobile' } },
};

/** A fresh copy of the planned run, or of one that was kept, that sends to this address; returns its run directory. */
export function copyRun({ directory, plan }: PlannedJob, origin: string, from: string = PLANNED): string {
  const out = join(directory, OUT);
  rmSync(out, { recursive: true, force: true });
  copyTree(join(directory, from), out);
  const jobDirectory = join(out, plan.job.name);
  const run = readdirSync(jobDirectory).find((name) => statSync(join(jobDirectory, name)).isDirectory()) ?? '';
  const path = join(jobDirectory, run, PLAN_FILE);
  const sent = readFileSync(path, 'utf8').replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, origin);
  writeFileSync(path, encodePlan(withoutDigest(JSON.parse(sent))));
  return join(jobDirectory, run);
}

function withoutDigest({ sha256: _, ...plan }: Plan & { sha256: string }): Plan {
  return plan;
}

/** Sets the copy aside, as it is, under a name for `copyRun`. */
export function keepRun({ directory }: PlannedJob, name: string): void {
  renameSync(join(directory, OUT), join(directory, name));
}

/** Appended to by every run. */
const GROWING: readonly string[] = [JOURNAL_FILE];

/** What a run never changes is linked: bytes on their way to the disk would slow down the syncs that are measured. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.name.endsWith('.ndjson') && !GROWING.includes(entry.name)) linkSync(source, target);
    else copyFileSync(source, target);
  }
}
