import { dirname, join } from 'node:path';
import type { Context } from '../command/context.js';
import { lockDepsOf } from '../command/env.js';
import { findNewestRun, openNamedRun } from '../command/run-directory.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { countOf, format, formatSeconds, listNonZero, sumOf } from '../domain/count-of.js';
import type { Balance } from '../domain/row.js';
import { formatTime } from '../domain/stated-time.js';
import { describeOpening } from '../hours/window.js';
import { isRowStep, type Job, type Step } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { fixDates, listChangedKeys } from '../job/planned-job.js';
import { readRunState } from '../journal/reader.js';
import type { RunState } from '../journal/replay.js';
import { listHeld } from '../kinds/schedule.js';
import { JOURNAL_FILE, type Plan, readPlan, totalOf } from '../plan/format/plan-file.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { readApprovals } from '../registry/approvals.js';
import { readRegistry } from '../registry/open-registry.js';
import type { CampaignReport } from '../registry/report-campaign.js';
import { balanceOfRun } from '../report/run-rows.js';
import { readSummary } from '../report/write-report.js';
import { listWaiting } from '../retry/claiming-plan.js';
import { createSendingHours } from '../run/run-times.js';
import { findWaitingStage } from '../run/send/sending-stages.js';
import type { Files } from '../storage/files.js';
import { readLockOwner } from '../storage/lock.js';
import { countToSend, listSendingFacts } from '../texts/sending-question.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';

/** A plan, as a person confirms it. */
export type Checked = Awaited<ReturnType<typeof readChecked>>;

/** A plan in its run directory. `isStale`: the job file was changed since. */
export async function readChecked(directory: string, { files, clock }: Context['env'], isStale: boolean) {
  const plan = await readPlan(files, directory);
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const toSend = countToSend(plan, state);
  // What is typed to send; undefined where nothing is left to send.
  const count = toSend.parts[0]?.count;
  const facts = count === undefined ? [] : listSendingFacts(plan, toSend, { settings: plan.job, nowMs: clock.now() });
  const approvals = await readApprovals(files, { directory, plan }, await readRegistry(files, dirname(directory)));
  // The digest of plan.json: what is confirmed is what leaves.
  const { planSha256 } = approvals;
  return { directory, plan, approvals, planSha256, count, facts, isStale, isBegun: state.status !== 'planned' };
}

/** How many messages of a check that is not sent yet wait beside a run; 0 where nothing of it does. */
export function countWaiting(checked: Checked | undefined): number {
  const waits = checked?.isBegun === false && checked.count !== undefined;
  return waits ? totalOf(checked.plan, 'planned') : 0;
}

/** A run that has begun. */
export type FoundRun = NonNullable<Awaited<ReturnType<typeof findRun>>>;

/** The newest run of a campaign, or the one that is named; undefined where there is none, or it has not begun. */
export async function findRun(campaign: CampaignFolder, context: Context, id = '') {
  const { env } = context;
  const { files } = env;
  if (campaign.job === undefined) return undefined;
  const job = await loadJob(jobFileOf(campaign));
  const jobDirectory = jobDirectoryOf(job);
  const directory =
    id === '' ? await findNewestRun(jobDirectory, files) : (await RunDirectories.read(files, jobDirectory)).find(id);
  if (directory === undefined || (await files.stat(join(directory, JOURNAL_FILE))) === undefined) return undefined;
  const { plan } = await openNamedRun(context, directory);
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const owner = await readLockOwner(lockDepsOf(env), join(directory, '..'));
  const balance = balanceOfRun(plan, state, owner !== undefined);
  const names = await files.list(directory);
  const nowMs = env.clock.now();
  const isLetGo = state.lastClose?.reason === 'abandoned';
  return {
    directory,
    plan,
    balance,
    nowMs,
    /** The process that sends; `instance`: of its lock. */
    runner: owner && { pid: owner.pid, instance: owner.instance, isHere: owner.host === env.owner.host },
    summary: await readSummary(files, directory),
    /** Whether the run is finished, even if its process died before its outputs were written. */
    isFinished: state.isFinished,
    /** It was abandoned: the rest is planned anew, if at all. */
    isLetGo,
    said: describeProgress(plan, { balance, state, isRunning: owner !== undefined, nowMs }),
    /** What waits until a person has looked at the sample, or stage, before it; undefined where nothing does. */
    rest: owner === undefined && !isLetGo ? findRest(plan, state) : undefined,
    /** Keys of the job that say something else by now than what is sent. */
    changed: listChanged(plan.job, fixDates(job, state.firstOpen?.at ?? nowMs)),
    outputs: names.filter((name) => name.endsWith('.csv') || name.endsWith('.html')),
  };
}

function listChanged(planned: Job, job: Job): string[] {
  const readingOf = (step: Step | undefined) => (step !== undefined && isRowStep(step) ? step.input : undefined);
  return planned.steps.flatMap((step, at) => {
    const [then, now] = [readingOf(step), readingOf(job.steps[at])];
    // The plan's is read from a file, and has no keys without a value.
    const read = (['where', 'country', 'countryColumn'] as const).filter(
      (key) => JSON.stringify(then?.[key]) !== JSON.stringify(now?.[key]),
    );
    return [...listChangedKeys(planned, at, job), ...read.map((key) => `input.${key}`)].map(
      (key) => `steps[${at}].${key}`,
    );
  });
}

/** A run of the same campaign that shares no row with the last one: of a file that it had before. `since`: in ISO 8601. */
export type EarlierRun = Awaited<ReturnType<typeof listEarlier>>[number];

/** The newest first, without tests. */
export async function listEarlier(files: Files, { directory, plan }: FoundRun, whole: CampaignReport | undefined) {
  const shown = new Set([plan, ...(whole?.runs ?? []).map((each) => each.plan)].map(({ id }) => id));
  const found: { run: string; since: string; accepted: number }[] = [];
  for await (const { run, path } of (await RunDirectories.read(files, dirname(directory))).list(files)) {
    const { startedAt, testOf, balance } = (shown.has(run) ? undefined : await readSummary(files, path)) ?? {};
    if (startedAt == null || balance === undefined || testOf !== undefined) continue;
    found.unshift({ run, since: startedAt, accepted: balance.accepted });
  }
  return found;
}

/** Plans of a retry that were never sent, and that the check shows no more: the same retry makes them anew. */
export async function listForgotten(files: Files, { directory }: FoundRun, checked: Checked | undefined) {
  const jobDirectory = dirname(directory);
  const directories = await RunDirectories.read(files, jobDirectory);
  const waiting = await listWaiting(files, directories, await readRegistry(files, jobDirectory));
  return waiting.filter(({ plan }) => plan.id !== checked?.plan.id);
}

/** Describes a run in a few words, for the list of campaigns. */
export function describeRunShortly(run: FoundRun, whole: CampaignReport | undefined): string {
  const { balance } = whole?.summary ?? run;
  return `${countOf(balance.accepted, 'message')} accepted of ${countOf(balance.read, 'row')}`;
}

/** `stage`: that is let pass, as `--pass-stage` names it; `why`: how that went; `count`: what is typed to send the rest. */
function findRest(plan: Plan, state: RunState) {
  const waiting = findWaitingStage(plan, state);
  if (waiting === undefined) return undefined;
  const count = countToSend(plan, state).parts[0]?.count ?? 0;
  return { stage: waiting.number, why: waiting.why, isSample: waiting.verdict === 'asked', count };
}

/** How far a run is, in a sentence; a second one says how long the rest takes, or, while it is closed to all that is left, when that ends. */
export function describeProgress(
  plan: Plan,
  { balance, state, isRunning, nowMs }: { balance: Balance; state: RunState; isRunning: boolean; nowMs: number },
): string {
  const { accepted, unprocessed, inDoubt, rejected } = balance;
  const more = listNonZero({ 'in doubt': inDoubt, 'could not be used': rejected });
  const isLetGo = state.lastClose?.reason === 'abandoned';
  const parts = [`${format(accepted)} accepted`, `${format(unprocessed)} ${isLetGo ? 'not sent' : 'to go'}`, ...more];
  const ended = state.status === 'finished' ? 'finished' : isLetGo ? 'let go' : 'stopped';
  const head = isRunning ? 'Sending' : `The run is ${ended}`;
  const next = isRunning ? (describeClosed(plan, nowMs) ?? describeLeft(plan, unprocessed)) : undefined;
  return `${head}: ${parts.join(', ')}.${next === undefined ? '' : ` ${next}`}`;
}

/** How long the rest takes at the rate that the limits allow; undefined where it is over before it is read. */
function describeLeft({ steps }: Plan, left: number): string | undefined {
  const estimate = sumOf(steps.map(({ estimateSeconds }) => estimateSeconds));
  const seconds = Math.ceil((estimate * left) / Math.max(1, totalOf({ steps }, 'planned')));
  return seconds < 5 ? undefined : `About ${formatSeconds(seconds)} left.`;
}

/** When the hours begin in which messages may leave; undefined while some may leave now. */
function describeClosed({ steps, job }: Plan, nowMs: number): string | undefined {
  for (const { number, hours } of steps) {
    const step = job.steps[number - 1];
    if (step?.kind !== 'sms' || step.window === undefined || hours === undefined) continue;
    const sending = createSendingHours(step.window, { now: () => nowMs }, job.service.timeouts);
    const first = sending.findNext(Object.keys(hours.groups));
    if (first !== undefined && first.atMs > nowMs) return `Messages may not leave now: ${describeOpening(first)}.`;
  }
  return undefined;
}

/** Until when the service holds messages of a run; undefined where it holds none. */
export function findHeldUntil({ job }: Plan, nowMs: number): string | undefined {
  const last = listHeld(job, nowMs).at(-1);
  return last && formatTime(last.at);
}
