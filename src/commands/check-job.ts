import { StoreLost } from '../cluster/store.js';
import { UserError } from '../domain/errors.js';
import { type Input, isRowStep, type Job, type RowStep } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { areasOf } from '../kinds/kinds.js';
import { checkInputHead, checkListHead } from '../plan/check-head.js';
import type { InputReader } from '../plan/plan-deps.js';
import { loadPrices } from '../plan/prices/load-prices.js';
import { ProblemList } from '../plan/problems.js';
import { listTimeFaults } from '../plan/time-faults.js';
import { readAddress } from './cluster/read-address.js';
import { readHookAddress } from './notify/hook-address.js';
import { type Host, runtimeOf } from './support/deps.js';
import { placeProblems } from './support/place-problems.js';
import { readSecrets } from './support/read-secrets.js';
import { printResult } from './terminal/print.js';
import { escapeText, SecretKeeper } from './terminal/terminal.js';

/**
 * `volley check JOB`: the job file, its secrets, its database, its price list, and the beginning of each file (encoding, header, columns). Reads
 * no file of rows to its end, save short suppression lists, and sends nothing.
 */
export async function checkJob(flags: { job: string; json: boolean | undefined }, terminal: Host): Promise<number> {
  const job = await loadJob(flags.job);
  const reader = await loadReader();
  const problems = new ProblemList('use the job');
  const steps: { number: number; kind: string; files: string[] }[] = [];
  const empty: string[] = [];
  const notices: string[] = [];
  for (const [index, step] of job.steps.entries()) {
    const context = { reader, problems, notices, onEmptyPattern: (shown: string) => empty.push(shown) };
    const files = isRowStep(step) ? await checkFiles(job, { step, number: index + 1 }, context) : [];
    steps.push({ number: index + 1, kind: step.kind, files });
  }
  await loadPrices(job, { deps: { reader }, problems });
  checkTimes(job, { steps, problems }, terminal);
  await checkSecrets(job, terminal, problems);
  await checkDatabase(job, terminal, { problems, notices });
  await placeProblems({ file: flags.job, files: runtimeOf(terminal).files }, async () => problems.throwIfAny());
  const lines = steps.map(
    ({ number, kind, files }) =>
      `  step ${number} (${kind})${files.length > 0 ? ': ' : ''}${files.map(escapeText).join(', ')}\n`,
  );
  const waiting = empty.map((shown) => `  no file matches ${escapeText(shown)} yet\n`);
  const said = notices.map((notice) => `  ${escapeText(notice)}\n`);
  const secrets = job.cluster === undefined ? 'its secrets' : 'its secrets, its database';
  const text = `Job ${job.name} can be planned, as far as the job file, ${secrets} and the first rows of each file show.\n${[...lines, ...waiting, ...said].join('')}`;
  await printResult(terminal, flags, { json: { job: job.name, steps, notices }, text });
  return 0;
}

type Reader = Omit<InputReader, 'spoolStandardInput'>;

/** Read on this thread: reading ahead does not pay here. */
async function loadReader(): Promise<Reader> {
  const [{ listInputs }, { digestInput }, { digestContent }, { readRecords }, { findColumn }] = await Promise.all([
    import('../input/inputs.js'),
    import('../input/digest-input.js'),
    import('../input/digest-content.js'),
    import('../input/records.js'),
    import('../input/own-columns.js'),
  ]);
  return { listInputs, digestInput, digestContent, readRecords, findColumn };
}

/** The names of a step's files, once their heads have been checked. */
async function checkFiles(
  job: Job,
  { step, number }: { step: RowStep; number: number },
  context: {
    reader: Reader;
    problems: ProblemList;
    notices: string[];
    onEmptyPattern: (shown: string) => void;
  },
): Promise<string[]> {
  const { reader, problems } = context;
  const list = async ({ files, format }: Input, onEmptyPattern?: (shown: string) => void) => {
    const named = files.filter((pattern) => pattern !== '-');
    const found = await problems.gather(`steps[${number - 1}]`, () =>
      reader.listInputs(named, job.directory, onEmptyPattern),
    );
    return (found ?? []).map((file) => ({ ...file, format: format ?? file.format }));
  };
  // As in planning: an inbox may be empty, a suppression list may not.
  const inputs = await list(step.input, context.onEmptyPattern);
  const suppress = step.kind === 'sms' ? step.suppress : undefined;
  const lists = suppress === undefined ? [] : await list(suppress);
  for (const file of lists) await checkListHead(file, { list: suppress ?? step.input, input: step.input }, context);
  for (const file of inputs) {
    const notice = await checkInputHead(file, { step, number }, context);
    if (notice !== undefined) context.notices.push(notice);
  }
  return [...inputs, ...lists].map(({ shown }) => shown);
}

/** As in planning: only steps with files. */
function checkTimes(
  job: Job,
  { steps, problems }: { steps: readonly { number: number; files: string[] }[]; problems: ProblemList },
  host: Host,
): void {
  const withFiles = job.steps.flatMap((step, index) => {
    const isFed = isRowStep(step) && (step.input.files.includes('-') || steps[index]?.files.length !== 0);
    return isFed ? [{ number: index + 1, step }] : [];
  });
  for (const fault of listTimeFaults(job, withFiles, runtimeOf(host).clock.now())) problems.add(fault);
}

/** Connects, and reads whether it has the schema of this build and keeps what is committed. Changes nothing in it. */
async function checkDatabase(
  { cluster }: Job,
  host: Host,
  { problems, notices }: { problems: ProblemList; notices: string[] },
): Promise<void> {
  if (cluster === undefined) return;
  const where = 'cluster.database';
  await problems.gather(where, async () => {
    const url = await readAddress(cluster.database, host);
    const store = await runtimeOf(host)
      .loadStore(url, (notice) => notices.push(`${where}: ${notice}`))
      .catch((error: unknown) => {
        if (!(error instanceof StoreLost)) throw error;
        throw new UserError('bad-credentials', error.message, { hint: 'Check that it runs, and its address.' });
      });
    await store.close();
  });
}

async function checkSecrets(job: Job, terminal: Host, problems: ProblemList): Promise<void> {
  const { notify } = job;
  if (notify !== undefined) await problems.gather('notify.url', () => readHookAddress(notify.url, terminal));
  if (job.service.sandbox) return;
  const context = { terminal, secrets: new SecretKeeper() };
  for (const area of areasOf(job.steps)) {
    const where = `service.credentials.${area}`;
    await problems.gather(where, () => readSecrets(job.service.credentials, [area], context));
  }
}
