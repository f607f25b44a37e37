import { StoreLost } from '../cluster/store.js';
import { envOf, type Host } from '../command/deps.js';
import { placeProblems } from '../command/place-problems.js';
import { printResult } from '../command/print.js';
import { readSecrets } from '../command/read-secrets.js';
import { escapeText, SecretKeeper } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';
import { fixDates } from '../job/fix-dates.js';
import { type Input, isRowStep, type Job, type RowStep } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { areasOf } from '../kinds/kinds.js';
import type { Digits } from '../normalize/number/number-set.js';
import { readHookAddress } from '../observe/hook-address.js';
import { checkInputHead, type InputHead } from '../plan/check-head.js';
import type { SuppressionInput } from '../plan/format/plan-file.js';
import { digestFile, readsStandardInput, type SuppressionFile } from '../plan/inputs/select-inputs.js';
import type { InputReader } from '../plan/plan-deps.js';
import { loadPrices } from '../plan/prices/load-prices.js';
import { ProblemList } from '../plan/problems.js';
import { describeList, warnOfList } from '../plan/suppress/describe-lists.js';
import { loadSuppression } from '../plan/suppress/suppression.js';
import { listTimeFaults } from '../plan/time-faults.js';
import { checkOnline } from './check-online.js';
import { readAddress } from './cluster/read-address.js';

/**
 * `volley check JOB`: the job file, its secrets, its database, its price list, and the beginning of each file (encoding, header, columns). Reads
 * no file to its end, save suppression lists, and sends nothing; with `online` it also tries the keys against the service.
 */
export async function checkJob(
  flags: { job: string; online?: boolean; json: boolean | undefined },
  terminal: Host,
): Promise<number> {
  const job = fixDates(await loadJob(flags.job), envOf(terminal).clock.now());
  const reader = await loadReader();
  const problems = new ProblemList('use the job');
  const steps: CheckedStep[] = [];
  const empty: string[] = [];
  const notices: string[] = [];
  for (const [index, step] of job.steps.entries()) {
    const context = { reader, problems, notices, onEmptyPattern: (shown: string) => empty.push(shown) };
    const checked = isRowStep(step)
      ? await checkFiles(job, { step, number: index + 1 }, context)
      : { files: [], suppression: [] };
    steps.push({ number: index + 1, kind: step.kind, ...checked });
  }
  await loadPrices(job, { deps: { reader }, problems });
  checkTimes(job, { steps, problems }, terminal);
  await checkSecrets(job, terminal, problems);
  await checkDatabase(job, terminal, { problems, notices });
  const isTried = flags.online === true && problems.isEmpty;
  const online = isTried ? await checkOnline(job, { file: flags.job, host: terminal, problems }) : [];
  await placeProblems({ file: flags.job, files: envOf(terminal).files }, async () => problems.throwIfAny());
  const lines = steps.map(
    ({ number, kind, files, suppression }) =>
      `  step ${number} (${kind})${files.length > 0 ? ': ' : ''}${files.map(escapeText).join(', ')}\n${suppression.map((list) => `    ${escapeText(describeList(list, list.among))}\n`).join('')}`,
  );
  const waiting = empty.map((shown) => `  no file matches ${escapeText(shown)} yet\n`);
  const said = [...online, ...notices].map((notice) => `  ${escapeText(notice)}\n`);
  const secrets = job.cluster === undefined ? 'its secrets' : 'its secrets, its database';
  const text = `Job ${job.name} can be planned, as far as the job file, ${secrets} and the first rows of each file show.\n${[...lines, ...waiting, ...said].join('')}`;
  await printResult(terminal, flags, {
    json: { job: job.name, state: 'checked', steps, ...(isTried ? { online } : {}), notices },
    text,
  });
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

interface CheckedStep {
  readonly number: number;
  readonly kind: string;
  readonly files: readonly string[];
  readonly suppression: readonly CheckedList[];
}

/** What a suppression list would do; `among`: the recipients that were looked at. */
type CheckedList = Omit<SuppressionInput, 'path' | 'sha256'> & { readonly among: string };

/** The names of a step's files, once their heads have been checked, and what its suppression lists do. */
async function checkFiles(
  job: Job,
  { step, number }: { step: RowStep; number: number },
  context: {
    reader: Reader;
    problems: ProblemList;
    notices: string[];
    onEmptyPattern: (shown: string) => void;
  },
): Promise<Pick<CheckedStep, 'files' | 'suppression'>> {
  const { reader, problems, notices } = context;
  const list = async ({ files, format }: Pick<Input, 'files' | 'format'>, onEmpty?: (shown: string) => void) => {
    const named = files.filter((pattern) => pattern !== '-');
    const found = await problems.gather(`steps[${number - 1}]`, () => reader.listInputs(named, job.directory, onEmpty));
    return (found ?? []).map((file) => ({ ...file, format: format ?? file.format }));
  };
  if (readsStandardInput(step)) notices.push(`step ${number} reads standard input, which was not looked at`);
  // As in planning: an inbox may be empty, a suppression list may not.
  const inputs = await list(step.input, context.onEmptyPattern);
  const found: SuppressionFile[] = [];
  for (const lists of (step.kind === 'sms' && step.suppress) || []) {
    for (const file of await list(lists)) {
      const digested = await problems.gather(file.shown, () => digestFile(file.path, { reader }));
      if (digested !== undefined) found.push({ file, ...digested, lists });
    }
  }
  const suppression = await loadSuppression(found, step.input, { deps: { reader }, problems });
  const heads: InputHead[] = [];
  for (const file of inputs) {
    const findSuppressed = (e164: Digits) => suppression.find(e164);
    const head = await checkInputHead(file, { step, number, findSuppressed }, context);
    if (head === undefined) continue;
    heads.push(head);
    notices.push(...head.notices);
  }
  const among = heads.every(({ isWhole }) => isWhole) ? 'the recipients' : 'the first recipients';
  const figures = suppression.figures(new Set(heads.flatMap(({ countries }) => countries)).size);
  for (const each of figures) {
    const warning = warnOfList(each);
    if (warning !== undefined) notices.push(warning);
  }
  const lists = figures.map(({ path: _path, sha256: _sha256, ...each }): CheckedList => ({ ...each, among }));
  return { files: [...inputs, ...found.map(({ file }) => file)].map(({ shown }) => shown), suppression: lists };
}

/** As in planning: only steps with files. */
function checkTimes(
  job: Job,
  { steps, problems }: { steps: readonly Pick<CheckedStep, 'files'>[]; problems: ProblemList },
  host: Host,
): void {
  const withFiles = job.steps.flatMap((step, index) => {
    const isFed = readsStandardInput(step) || (isRowStep(step) && steps[index]?.files.length !== 0);
    return isFed ? [{ number: index + 1, step }] : [];
  });
  for (const fault of listTimeFaults(job, withFiles, envOf(host).clock.now())) problems.add(fault);
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
    const store = await envOf(host)
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
