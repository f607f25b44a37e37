import { StoreLost } from '../cluster/store.js';
import type { Context } from '../command/context.js';
import { readAddress, readSecrets } from '../command/open-service.js';
import { warnOfJob } from '../command/plan-input.js';
import { escapeText } from '../command/screen.js';
import { callService } from '../command/single-call.js';
import { jobDirectoryOf } from '../command/with-job.js';
import type { Area } from '../domain/areas.js';
import { ServiceError, UserError } from '../domain/errors.js';
import { isObject } from '../domain/is-object.js';
import { ENDPOINTS, type EndpointFacts } from '../domain/service-facts.js';
import { type Input, isRowStep, type Job, type RowStep, type Step } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { fixDates } from '../job/planned-job.js';
import { areasOf, kindOf } from '../kinds/kinds.js';
import { readHookAddress } from '../observe/hook.js';
import { checkInputHead, type InputHead } from '../plan/check-head.js';
import { readPlan } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { listTimeFaults } from '../plan/guards.js';
import { loadPrices } from '../plan/load-prices.js';
import type { InputReader } from '../plan/plan-deps.js';
import { ProblemList } from '../plan/problems.js';
import { readsStandardInput } from '../plan/select-inputs.js';
import { digestSuppression } from '../plan/suppress/list-suppression.js';
import { loadSuppression } from '../plan/suppress/suppression.js';
import { describeList, warnOfList } from '../report/account.js';
import { readJsonBody } from '../service/answer.js';
import { readCampaign } from '../service/areas/campaign.js';
import { readMessages } from '../service/areas/chat.js';
import { readSession } from '../service/areas/verification.js';
import { type CallService, defineEndpoint } from '../service/endpoint.js';
import type { Files } from '../storage/files.js';
import { describeReadings, type FileReading } from '../texts/file-notices.js';
import { defineVerb, json, theJob, yes } from './verb.js';

interface Findings {
  /** All that is wrong: one run of the command tells it. */
  readonly problems: ProblemList;
  readonly notices: string[];
  /** Patterns that no file matches. */
  readonly empty: string[];
}

/**
 * `volley check JOB`: the job file, its secrets, its database, its price list, and the beginning of each file (encoding, header, columns).
 * Reads no file to its end, save suppression lists, and sends nothing; with --online it also tries the keys against the service.
 */
export const check = defineVerb({
  args: { job: theJob },
  flags: { online: yes('Try the keys against the service, by reads of nothing that exists; sends nothing'), json },
  examples: [
    ['jobs/spring-sale.yaml', ''],
    ['jobs/spring-sale.yaml --online', 'also tries the keys; sends nothing'],
  ],
  isLook: true,
  run: async ({ job: file, online: isOnline }, context) => {
    const { clock, files } = context.env;
    const job = fixDates(await loadJob(file), clock.now());
    const reader = await context.env.loadReader();
    const found: Findings = { problems: new ProblemList('use the job'), notices: [], empty: [] };
    const { problems, notices } = found;
    const steps: CheckedStep[] = [];
    for (const [index, step] of job.steps.entries()) {
      const number = index + 1;
      const checked = isRowStep(step) ? await checkFiles(job, { step, number }, { reader, files }, found) : NO_FILES;
      steps.push({ number, kind: step.kind, ...checked });
    }
    await loadPrices(job, { deps: { reader }, problems });
    for (const fault of listTimeFaults(job, listFed(job, steps), clock.now())) problems.add(fault);
    await checkSecrets(job, context, problems);
    await checkDatabase(job, context, found);
    context.workIn(jobDirectoryOf(job));
    await checkRuns(jobDirectoryOf(job), files, problems);
    if (job.approvers !== undefined && job.guards.requireApproval === 1) notices.push(OWN_PLAN);
    const sendsTexts = job.steps.some((step) => isRowStep(step) && kindOf(step).listTexts !== undefined);
    if (job.sameText === undefined && job.repeat === 'never' && sendsTexts) notices.push(UNSAID);
    const isTried = isOnline && problems.isEmpty;
    const online = isTried ? await tryKeys(job, file, context, problems) : [];
    problems.throwIfAny();
    const secrets = job.cluster === undefined ? 'its secrets' : 'its secrets, its database';
    notices.push(...warnOfJob(job, context.terminal.env.TZ));
    const lines = [
      ...steps.flatMap(sayStep),
      ...found.empty.map((shown) => `  no file matches ${shown} yet`),
      ...[...online, ...notices].map((notice) => `  ${notice}`),
    ];
    return {
      json: { job: job.name, state: 'checked', steps, ...(isTried ? { online } : {}), notices },
      text: `Job ${job.name} can be planned, as far as the job file, ${secrets} and the first rows of each file show.\n${lines.map((line) => `${escapeText(line)}\n`).join('')}`,
      reason: 'checked',
    };
  },
});

const UNSAID =
  'sameText is not said: a row whose number had exactly its text before is held, and the run ends with exit code 1. Decide: sameText: hold, skip or send';

const OWN_PLAN =
  'guards.requireApproval is 1: who plans gives a name alone, so one approver can plan under another name and approve it. requireApproval: 2 takes the keys of two people';

type CheckedFiles = Awaited<ReturnType<typeof checkFiles>>;
type CheckedStep = CheckedFiles & { readonly number: number; readonly kind: string };

const NO_FILES: CheckedFiles = { files: [], suppression: [] };

function sayStep({ number, kind, files, suppression }: CheckedStep): string[] {
  return [
    `  step ${number} (${kind})${files.length > 0 ? ': ' : ''}${files.join(', ')}`,
    ...suppression.map((list) => `    ${describeList(list, list.among)}`),
  ];
}

async function checkFiles(
  job: Job,
  { step, number }: { step: RowStep; number: number },
  { reader, files }: { reader: Omit<InputReader, 'spoolStandardInput'>; files: Files },
  { problems, notices, empty }: Findings,
) {
  const list = async ({ files, format }: Pick<Input, 'files' | 'format'>, onEmpty?: (shown: string) => void) => {
    const named = files.filter((pattern) => pattern !== '-');
    const found = await problems.gather(`steps[${number - 1}]`, () => reader.listInputs(named, job.directory, onEmpty));
    return (found ?? []).map((file) => ({ ...file, format: format ?? file.format }));
  };
  if (readsStandardInput(step)) notices.push(`step ${number} reads standard input, which was not looked at`);
  // As in planning: an inbox may be empty, a suppression list may not.
  const inputs = await list(step.input, (shown) => empty.push(shown));
  const where = `steps[${number - 1}]`;
  const found = await digestSuppression(step, job.directory, {
    ...{ where, deps: { reader, files }, problems, standardInput: () => [] },
  });
  const suppression = await loadSuppression(found, step.input, { deps: { reader }, problems });
  const findSuppressed = (each: number) => suppression.find(each);
  const heads: InputHead[] = [];
  const readings: FileReading[] = [];
  for (const file of inputs) {
    const head = await checkInputHead(file, { step, number, findSuppressed }, { reader, problems });
    if (head === undefined) continue;
    heads.push(head);
    readings.push({ file: file.shown, notices: head.readAs });
  }
  notices.push(...describeReadings(readings));
  const figures = suppression.figures(new Set(heads.flatMap(({ countries }) => countries)).size);
  notices.push(...heads.flatMap((head) => head.notices), ...figures.flatMap((each) => warnOfList(each) ?? []));
  const among = heads.every(({ isWhole }) => isWhole) ? 'the recipients' : 'the first recipients';
  /** What each would do; `among`: the recipients that were looked at. */
  const lists = figures.map(({ path: _path, sha256: _sha256, ...each }) => ({ ...each, among }));
  return { files: [...inputs, ...found.map(({ file }) => file)].map(({ shown }) => shown), suppression: lists };
}

/** As in planning: a step whose inbox is empty may be late. */
function listFed({ steps }: Job, checked: readonly CheckedStep[]) {
  return steps.flatMap((step, index) => {
    const isFed = readsStandardInput(step) || (isRowStep(step) && checked[index]?.files.length !== 0);
    return isFed ? [{ number: index + 1, step }] : [];
  });
}

async function checkSecrets({ notify, service, steps }: Job, context: Context, problems: ProblemList): Promise<void> {
  if (notify !== undefined) await problems.gather('notify.url', () => readHookAddress(notify.url, context));
  if (service.sandbox) return;
  for (const area of areasOf(steps))
    await problems.gather(placeOf(area), () => readSecrets(service.credentials, [area], context));
}

const placeOf = (area: Area) => `service.credentials.${area}`;

/** A plan that this build cannot read stops the job: its rows may have been sent. */
async function checkRuns(jobDirectory: string, files: Files, problems: ProblemList): Promise<void> {
  if ((await files.stat(jobDirectory))?.isDirectory !== true) return;
  for await (const { path, hasPlan } of (await RunDirectories.read(files, jobDirectory)).list(files)) {
    if (hasPlan) await problems.gather(path, () => readPlan(files, path));
  }
}

/** Connects, and reads whether it has the schema of this build and keeps what is committed. Changes nothing in it. */
async function checkDatabase({ cluster }: Job, context: Context, { problems, notices }: Findings): Promise<void> {
  if (cluster === undefined) return;
  const where = 'cluster.database';
  await problems.gather(where, async () => {
    const readUrl = () => readAddress(cluster.database, context);
    const store = await context.env
      .loadStore(readUrl, (notice) => notices.push(`${where}: ${notice}`))
      .catch((error: unknown) => {
        if (!(error instanceof StoreLost)) throw error;
        throw new UserError('bad-credentials', error.message, { hint: 'Check that it runs, and its URL.' });
      });
    await store.close();
  });
}

/** Tries the key of each area that the job's steps use against the service, all at once. Returns what it found. */
async function tryKeys(job: Job, file: string, context: Context, problems: ProblemList): Promise<string[]> {
  if (job.service.sandbox) return ['the sandbox needs no key: there was nothing to try online'];
  const tries = areasOf(job.steps).map((area) => ({ area, tried: tryArea(area, job, file, context) }));
  await Promise.allSettled(tries.map(({ tried }) => tried));
  const { reason } = context.stop;
  if (reason !== undefined) {
    throw new UserError('interrupted', `Cannot finish: the process received ${reason.detail}`, {
      hint: 'Nothing was sent. Run the same command again.',
    });
  }
  const said: string[] = [];
  for (const { area, tried } of tries) {
    const found = await problems.gather(placeOf(area), () => tried);
    if (found === undefined) continue;
    said.push(`${area}: ${found.said}; nothing was sent`);
    if (area === 'campaign' && found.isTaken) await findCampaigns(job, file, context, problems);
  }
  return said;
}

async function tryArea(area: Area, job: Job, file: string, context: Context) {
  const tried = await callService(context, { job: file, area }, ({ call }) =>
    tryKey(area, job.steps, call).catch((error: unknown) => {
      throw explain(error, area, job);
    }),
  );
  const isSaidToAll = tried === 'not-found' && (await isSaidWithoutKey(job, file, area, context));
  const unknown = `whether the key is right is not known, as ${job.service.bases[area]} answers the same without one. Check service.bases and service.region`;
  return { isTaken: !isSaidToAll, said: isSaidToAll ? unknown : sayTaken(job, area) };
}

/** A run would stop at the step of one that is not there, behind what it had sent by then. */
async function findCampaigns({ steps }: Job, file: string, context: Context, problems: ProblemList): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'campaign') continue;
    await problems.gather(`steps[${index}].campaign`, () =>
      callService(context, { job: file, area: 'campaign' }, ({ call }) =>
        call(readCampaign, { campaignId: step.campaign }).catch((error: unknown) => {
          if (!(error instanceof ServiceError)) throw error;
          const hint = 'Check the id, and service.ccPlatform.';
          throw new UserError('bad-input', `campaign ${step.campaign}: ${error.message}`, { hint });
        }),
      ),
    );
  }
}

function sayTaken({ steps }: Job, area: Area): string {
  if (area !== 'campaign') return 'the service takes the API key';
  const isSet = steps.some((step) => step.kind === 'campaign' && step.set !== undefined);
  return `the service takes user name and Data Request Token${isSet ? ', the Action Request Token cannot be tried' : ''}`;
}

/** Where nothing is served, the service answers so before it looks at a key. */
function isSaidWithoutKey({ steps }: Job, file: string, area: Area, context: Context): Promise<boolean> {
  return callService(context, { job: file, area, isAnonymous: true }, ({ call }) =>
    tryKey(area, steps, call).then(
      (tried) => tried === 'not-found',
      () => false,
    ),
  );
}

/** The id of nothing that exists: the service answers 404 to a good key, and 401 or 403 to another. */
const NO_SUCH_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Whether the service takes the credentials of an area, by a read that changes nothing and sends nothing. Throws the ServiceError
 * of a call that was not taken, or that says nothing about the key. The Action Request Token cannot be tried: it only changes.
 */
async function tryKey(area: Area, steps: readonly Step[], call: CallService): Promise<'found' | 'not-found'> {
  const campaignId = steps.find((step) => step.kind === 'campaign')?.campaign ?? 1;
  const reads: Readonly<Record<Area, () => Promise<unknown>>> = {
    sms: () => call(readPlainly(ENDPOINTS.readSms), { umid: NO_SUCH_ID }),
    contacts: () => call(readPlainly(ENDPOINTS.readContact), { contactId: '0' }),
    verification: () => call(readSession, { sessionId: NO_SUCH_ID }),
    gateway: () => call(readPlainly(ENDPOINTS.readConversation), { conversationId: NO_SUCH_ID }),
    campaign: () => call(readCampaign, { campaignId }),
    chat: () => call(readMessages, { pageSize: 1 }),
  };
  try {
    await reads[area]();
    return 'found';
  } catch (error) {
    // The service knows the caller, and has no such thing; or has nothing at this address.
    if (!(error instanceof ServiceError) || error.code !== 'refused') throw error;
    return 'not-found';
  }
}

function readPlainly(facts: EndpointFacts) {
  return defineEndpoint(
    facts,
    (ids: Readonly<Record<string, string>>) => ({ ids }),
    (response) => (isObject(readJsonBody(response)) ? true : undefined),
  );
}

function explain(error: unknown, area: Area, { service: { bases, credentials } }: Job): unknown {
  if (!(error instanceof ServiceError)) return error;
  const source = area === 'campaign' ? credentials.campaign?.dataToken : credentials[area]?.apiKey;
  // Said by the service itself, which has a code for it; something in between says nothing of the key.
  const isRefused = error.code === 'unauthorized' && error.serviceCode !== undefined && source !== undefined;
  const from = source && ('env' in source ? `the variable ${source.env}` : `the file ${source.file}`);
  const hint = isRefused
    ? `It comes from ${from}. Check it, and ${NAMED_WITH[area]}.`
    : `It was asked at ${bases[area]}. ${error.hint ?? ''}${error.code === 'unavailable' ? ' If it stays so, check that address.' : ''}`;
  return new UserError('bad-credentials', error.message, { hint });
}

/** What else of the job the service compares a key with, or is sent beside it. */
const NAMED_WITH: Readonly<Record<Area, string>> = {
  sms: 'service.account and service.subAccountId',
  contacts: 'service.account and service.accountId',
  verification: 'service.account and service.subAccountId',
  gateway: 'service.tenant and service.bases',
  campaign: 'service.credentials.campaign.username',
  chat: 'service.bases',
};
