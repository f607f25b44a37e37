import { dirname, join } from 'node:path';
import type { Context } from '../command/context.js';
import { lockDepsOf } from '../command/env.js';
import { openNamedRun } from '../command/run-directory.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import type { Balance } from '../domain/row.js';
import { guessNumber } from '../guess/guess-number.js';
import { joinSamples, listFilled } from '../guess/sampled-rows.js';
import { findColumn } from '../input/own-columns.js';
import { readHeads } from '../input/read-heads.js';
import type { RunState } from '../journal/replay.js';
import { readRunState } from '../journal/state-reader.js';
import { normalizeCountry } from '../normalize/country.js';
import { JOURNAL_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { type Approvals, readApprovals } from '../registry/approvals.js';
import { readRegistry } from '../registry/open-registry.js';
import { balanceAtRest, balanceOf } from '../report/row-balance.js';
import { addBalances, type Summary } from '../report/summary.js';
import { PAGE_FILE, readSummary } from '../report/write-report.js';
import { findWaitingStage } from '../run/waiting-stage.js';
import type { Files } from '../storage/files.js';
import { readLockOwner } from '../storage/lock.js';
import type { Owner } from '../storage/lock-file.js';
import { describeProgress, findHeldUntil } from '../texts/run-progress.js';
import { countToSend, listSendingFacts } from '../texts/sending-question.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';
import type { ColumnsShown } from './pages/campaign-pages.js';

/** What a campaign's file has, and what may be its numbers. `written`: in a form that is not saved yet. */
export async function readColumns(
  { directory, job, file = '', sheet }: CampaignFolder,
  files: Files,
  written: Readonly<Record<string, unknown>> = {},
): Promise<ColumnsShown> {
  const heads = await readHeads([file], {
    jobDirectory: directory,
    disk: files,
    stated: { encoding: undefined, sheet },
  });
  const sample = joinSamples(heads.files, findColumn);
  const country = written.country ?? job?.country;
  const named = normalizeCountry(String(country ?? ''));
  const guess = (destination: string | undefined) => {
    const choice = { destination, country: named.ok ? named.country : undefined };
    const search = guessNumber(sample, choice, findColumn);
    return search.kind === 'none' ? [] : search.kind === 'found' ? [search.number] : search.columns;
  };
  const found = guess(undefined);
  const only = found.length === 1 ? found[0] : undefined;
  const chosen = String(written.destination ?? job?.destination ?? only?.column ?? '');
  const at = findColumn(sample.columns, chosen)?.index;
  const own = at === undefined ? [] : guess(chosen);
  return {
    columns: sample.columns,
    samples: sample.columns.map((_, at) => listFilled(sample, at).slice(0, 3)),
    rows: sample.rows.length,
    numbers: [...own, ...found.filter(({ column }) => column !== own[0]?.column)],
    filled: at === undefined ? 0 : listFilled(sample, at).length,
    chosen,
    country: String(country ?? only?.country ?? ''),
  };
}

/** A plan, as a person confirms it. */
export interface Checked {
  readonly directory: string;
  readonly plan: Plan;
  readonly approvals: Approvals;
  /** Of plan.json: what is confirmed is what leaves. */
  readonly planSha256: string;
  /** What is typed to send; undefined where nothing is left to send. */
  readonly count: number | undefined;
  /** To how many, at what cost, from whom, when. */
  readonly facts: readonly string[];
  /** The job file was changed since. */
  readonly isStale: boolean;
}

/** A plan in its run directory. */
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

/** A run that has begun. */
export interface FoundRun {
  readonly directory: string;
  readonly plan: Plan;
  readonly balance: Balance;
  /** Of the lock, where a process holds it, */
  readonly owner: Owner | undefined;
  /** and in words. */
  readonly runner: { readonly host: string; readonly pid: number; readonly isHere: boolean } | undefined;
  /** Once it is at rest. */
  readonly summary: Summary | undefined;
  /** In words, such as `sending` or `stopped`. */
  readonly said: string;
  /** What waits until a person has looked at the sample, or stage, before it; undefined where nothing does. */
  readonly rest: ReturnType<typeof findRest>;
  readonly outputs: readonly string[];
  /** When the service sends what it accepted, in words; undefined where it holds nothing. */
  readonly heldUntil: string | undefined;
}

/** The newest run of a campaign that has begun; undefined where there is none. */
export async function findRun(campaign: CampaignFolder, context: Context): Promise<FoundRun | undefined> {
  const { env } = context;
  const { files } = env;
  if (campaign.job === undefined) return undefined;
  const found = await openNamedRun(context, jobFileOf(campaign)).catch((error) => {
    if (error instanceof UserError && error.message.includes(': there is no run in ')) return undefined;
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
    said: describeProgress(plan, { balance, state, isRunning: owner !== undefined, nowMs: env.clock.now() }),
    rest: owner === undefined ? findRest(plan, state) : undefined,
    outputs: names.filter((name) => name.endsWith('.csv') || name === PAGE_FILE),
    heldUntil: findHeldUntil(plan, env.clock.now()),
  };
}

/** In a few words, for the list of campaigns. */
export function describeRunShortly({ balance }: Pick<FoundRun, 'balance'>): string {
  return `${countOf(balance.accepted, 'message')} accepted of ${countOf(balance.read, 'row')}`;
}

/** `stage`: that is let pass, as `--pass-stage` names it; `why`: how that went; `count`: what is typed to send the rest. */
function findRest(plan: Plan, state: RunState) {
  const waiting = findWaitingStage(plan, state);
  if (waiting === undefined) return undefined;
  const count = countToSend(plan, state).parts[0]?.count ?? 0;
  return { stage: waiting.number, why: waiting.why, isSample: waiting.verdict === 'asked', count };
}
