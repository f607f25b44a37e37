import { dirname, join } from 'node:path';
import type { Context } from '../command/context.js';
import { lockDepsOf } from '../command/env.js';
import { openNamedRun } from '../command/run-directory.js';
import { countOf, format } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import type { Balance } from '../domain/row.js';
import { formatTime, millisecondsOf } from '../domain/stated-time.js';
import { guessJob } from '../guess/guess-job.js';
import { joinSamples, listFilled } from '../guess/sampled-rows.js';
import { OpeningHours } from '../hours/window.js';
import { describeOpening, type Opening, zonesOf } from '../hours/zone-groups.js';
import { findColumn } from '../input/own-columns.js';
import { readHeads } from '../input/read-heads.js';
import type { RunState } from '../journal/replay.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { readApprovals } from '../registry/approvals.js';
import { readRegistry } from '../registry/open-registry.js';
import { balanceAtRest, balanceOf } from '../report/row-balance.js';
import { addBalances } from '../report/summary.js';
import { PAGE_FILE, readSummary } from '../report/write-report.js';
import { findWaitingStage } from '../run/waiting-stage.js';
import type { Files } from '../storage/files.js';
import { readLockOwner } from '../storage/lock.js';
import type { Owner } from '../storage/lock-file.js';
import { countToSend, listSendingFacts } from '../texts/sending-question.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';
import type { ColumnsShown } from './pages/campaign-pages.js';
import type { Checked, ShownRun, WaitingRest } from './pages/sending-pages.js';

/** What a campaign's file has, and what may be its numbers. */
export async function readColumns({ directory, job, file = '' }: CampaignFolder, files: Files): Promise<ColumnsShown> {
  const heads = await readHeads([file], {
    jobDirectory: directory,
    disk: files,
    stated: { encoding: undefined, sheet: undefined },
  });
  const sample = joinSamples(heads.files, findColumn);
  const choice = { destination: undefined, country: job?.country === '' ? undefined : job?.country };
  const found = guessJob(sample, choice, findColumn);
  const own = found.kind === 'found' && found.guess.number !== undefined ? [found.guess.number] : [];
  const numbers = found.kind === 'several' ? found.columns : own;
  const [best] = numbers;
  return {
    columns: sample.columns,
    samples: sample.columns.map((_, at) => listFilled(sample, at).slice(0, 3)),
    rows: sample.rows.length,
    numbers,
    chosen: job?.destination ?? (found.kind === 'found' ? (best?.column ?? '') : ''),
    country: job?.country ?? (numbers.length === 1 ? (best?.country ?? '') : ''),
  };
}

/** A plan in its run directory, as it is confirmed. */
export async function readChecked(
  directory: string,
  { files, clock }: Context['env'],
  isStale: boolean,
): Promise<Checked> {
  const plan = await readPlan(files, directory);
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const toSend = countToSend(plan, state);
  const facts =
    toSend.parts.length === 0 ? [] : listSendingFacts(plan, toSend, { settings: plan.job, nowMs: clock.now() });
  const approvals = await readApprovals(files, { directory, plan }, await readRegistry(files, dirname(directory)));
  return {
    directory,
    plan,
    approvals,
    planSha256: approvals.planSha256,
    count: toSend.parts[0]?.count,
    facts,
    isStale,
  };
}

/** A run that has begun, with its directory. */
export interface FoundRun extends ShownRun {
  readonly directory: string;
  /** Of the lock, where a process holds it. */
  readonly owner: Owner | undefined;
}

/** The newest run of a campaign that has begun; undefined where there is none. */
export async function findRun(campaign: CampaignFolder, context: Context): Promise<FoundRun | undefined> {
  const { env } = context;
  const { files } = env;
  if (campaign.job === undefined) return undefined;
  const found = await openNamedRun(context, jobFileOf(campaign)).catch((error) => {
    if (error instanceof UserError && error.code === 'bad-plan') return undefined;
    throw error;
  });
  if (found === undefined || (await files.stat(join(found.directory, JOURNAL_FILE))) === undefined) return undefined;
  const { directory, plan } = found;
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const owner = await readLockOwner(lockDepsOf(env), join(directory, '..'));
  const count = (step: Plan['steps'][number]) =>
    owner === undefined ? balanceAtRest(step, state, plan.job) : balanceOf(step, state);
  const balance = addBalances(plan.steps.map(count));
  const names = await files.list(directory);
  return {
    directory,
    plan,
    balance,
    owner,
    runner: owner && { host: owner.host.split('/')[0] ?? '', pid: owner.pid, isHere: owner.host === env.owner.host },
    summary: await readSummary(files, directory),
    said: [describeState(balance, state, owner), owner && describeClosed(plan, env.clock.now())].join(' ').trim(),
    rest: owner === undefined ? findRest(plan, state) : undefined,
    outputs: names.filter((name) => name.endsWith('.csv') || name === PAGE_FILE),
    heldUntil: findHeldUntil(plan, env.clock.now()),
  };
}

/** Until when the service holds messages of a run; undefined where it holds none. */
function findHeldUntil({ job, steps }: Plan, nowMs: number): string | undefined {
  const times = steps.flatMap(({ number }) => {
    const step = job.steps[number - 1];
    const at = step?.kind === 'sms' ? step.template.scheduled : undefined;
    return at !== undefined && millisecondsOf(at) > nowMs ? [at] : [];
  });
  const last = times.sort((one, other) => millisecondsOf(one) - millisecondsOf(other)).at(-1);
  return last === undefined ? undefined : formatTime(last);
}

function describeState(
  { accepted, unprocessed, inDoubt, rejected }: Balance,
  { status }: RunState,
  owner: Owner | undefined,
): string {
  const parts = [`${format(accepted)} accepted`, `${format(unprocessed)} to go`];
  if (inDoubt > 0) parts.push(`${format(inDoubt)} in doubt`);
  if (rejected > 0) parts.push(`${format(rejected)} could not be used`);
  const head = owner === undefined ? `The run is ${status === 'finished' ? 'finished' : 'stopped'}` : 'Sending';
  return `${head}: ${parts.join(', ')}.`;
}

/** In a few words, for the list of campaigns. */
export function describeRunShortly({ balance }: Pick<ShownRun, 'balance'>): string {
  return `${countOf(balance.accepted, 'message')} accepted of ${countOf(balance.read, 'row')}`;
}

function findRest(plan: Plan, state: RunState): WaitingRest | undefined {
  const waiting = findWaitingStage(plan, state);
  if (waiting === undefined) return undefined;
  const count = countToSend(plan, state).parts[0]?.count ?? 0;
  return { stage: waiting.number, why: waiting.why, isSample: waiting.verdict === 'asked', count };
}

/** When the hours begin in which messages may leave; undefined while some may leave now. */
function describeClosed({ steps, job }: Plan, nowMs: number): string | undefined {
  for (const { number, hours } of steps) {
    const step = job.steps[number - 1];
    if (step?.kind !== 'sms' || step.window === undefined || hours === undefined) continue;
    const { window } = step;
    const opening = new OpeningHours(window);
    const next = Object.keys(hours.groups).flatMap((group): Opening[] => {
      const [zone = 'UTC', ...others] = zonesOf(window, group);
      const atMs = opening.findNextOpening([zone, ...others], nowMs);
      return atMs === undefined ? [] : [{ group, atMs, zone }];
    });
    const [first] = next.toSorted((one, other) => one.atMs - other.atMs);
    if (first !== undefined && first.atMs > nowMs) return `Messages may not leave now: ${describeOpening(first)}.`;
  }
  return undefined;
}
