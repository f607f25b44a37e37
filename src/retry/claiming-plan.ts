import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { quoteWord, UserError } from '../domain/errors.js';
import { accountOfKind } from '../job/job.js';
import type { JournalEntry } from '../journal/entry-format.js';
import { readRunState } from '../journal/reader.js';
import { digestsOf, JOURNAL_FILE, PLAN_FILE, type Plan, type PlanAt, readPlan } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { readAgain } from '../plan/format/run-record.js';
import { appendToRun } from '../registry/append-to-run.js';
import type { PastRun } from '../registry/read-runs.js';
import type { OwnedRun, Registry } from '../registry/registry.js';
import type { RegistryState } from '../registry/registry-state.js';
import type { Files } from '../storage/files.js';
import type { Ports } from '../storage/lock-file.js';

/** A plan, the run that it has its rows from, and so on to the one that read them from files. */
export function lineOf(plan: Plan, plans: ReadonlyMap<string, Plan>): string[] {
  const line = [plan.id];
  for (let of = plan.retryOf; of !== undefined; of = plans.get(of.run)?.retryOf) line.push(of.run);
  return line;
}

/** Refuses a plan with rows of a run that is gone, from whichever of its line it has them. `doing` completes "Cannot …". */
export function assertLineIsThere(plan: Plan, history: readonly PastRun[], doing: string): void {
  const plans = new Map([...history.map((run) => run.plan), plan].map((each) => [each.id, each]));
  const gone = lineOf(plan, plans).find((id) => !plans.has(id));
  if (gone === undefined) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot ${doing}: run ${gone} is gone, and with it what delivery receipts show of its rows, they might be sent twice`,
    { hint: 'Put its directory back from a backup, with --adopt.' },
  );
}

export interface SentAgain {
  readonly run: string;
  readonly file: string;
}

/** Refuses rows that a person has planned since, by `--again`, with all of their file. */
export function assertNotSentAgain(registry: RegistryState, { plan, doing }: { plan: Plan; doing: string }): void {
  const again = findSentAgain(registry, plan);
  if (again === undefined) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot ${doing}: run ${again.run} has sent ${again.file} again since, with --again, and its people would get the message twice`,
    { hint: `What became of them is in run ${again.run}: retry the rows of that run.` },
  );
}

/**
 * The run that a person had send files of a plan once more, by `--again`, since it began, or the run did whose rows it retries: it has their
 * rows. Undefined where none did, and for a job that repeats on its own. Pure.
 */
export function findSentAgain(registry: RegistryState, { id, job, steps, retryOf }: Plan): SentAgain | undefined {
  if (job.repeat === 'always') return undefined;
  // Not by their times: a clock may have been set back.
  const runs = [...registry.runs.values()];
  const own = runs.findLastIndex(({ plan }) => plan === id || plan === retryOf?.run);
  const again = runs.slice(own + 1).filter(({ begun }) => readAgain(begun.occurrence) > 1);
  for (const { kind, inputs } of steps) {
    for (const input of inputs) {
      const takers = registry.listTakers(kind, digestsOf(input), { account: accountOfKind(job, kind), occurrence: '' });
      const run = again.findLast(({ plan }) => takers.includes(plan))?.plan;
      if (run !== undefined) return { run, file: input.file };
    }
  }
  return undefined;
}

export interface WaitingPlan extends PlanAt {
  /** How many rows of other runs it has claimed. */
  readonly rows: number;
}

/** Plans of a job that have claimed rows of other runs, and that nobody has begun to send, or let go. */
export async function listWaiting(
  files: Files,
  directories: RunDirectories,
  registry: RegistryState,
): Promise<WaitingPlan[]> {
  const waiting: WaitingPlan[] = [];
  for (const id of registry.claims.plans) {
    const directory = directories.of(id);
    const isThere = async (file: string) => (await files.stat(join(directory, file))) !== undefined;
    const { abandoned, journal } = registry.recordOf(id);
    if (abandoned !== undefined || journal !== undefined) continue;
    if (!(await isThere(PLAN_FILE)) || (await isThere(JOURNAL_FILE))) continue;
    waiting.push({ directory, plan: await readPlan(files, directory), rows: registry.claims.countOf(id) });
  }
  return waiting;
}

/** What is to be done: only the plan sends its rows. */
export function describeWaiting({ directory, plan: { id, retryOf }, rows }: WaitingPlan): string {
  const from = retryOf === undefined ? 'other runs' : `run ${retryOf.run}`;
  const anew = retryOf === undefined ? `; to have them planned anew: \`volley abandon ${quoteWord(directory)}\`` : '';
  return `plan ${id} has claimed ${countOf(rows, 'row')} of ${from} and was never applied; to send them: \`volley apply ${quoteWord(directory)}\`${anew}`;
}

/**
 * What the run made whose rows a plan retries, such as the channel of a step, serves that plan too: it is noted in the plan's own
 * journal, and not made a second time. Nothing is done where the plan has, or is about to have, one of its own.
 */
export async function takeOverPrepared(
  { directory, plan, lock, registry }: Omit<OwnedRun, 'registry'> & { registry: Pick<Registry, 'directories'> },
  deps: Ports,
): Promise<void> {
  if (plan.retryOf === undefined) return;
  const source = await readRunState(deps.files, join(registry.directories.of(plan.retryOf.run), JOURNAL_FILE));
  const own = await readRunState(deps.files, join(directory, JOURNAL_FILE));
  if (own.state.isFinished) return;
  const entries = plan.steps.flatMap(({ number }): JournalEntry[] => {
    const ids = source.state.step(number).prepared;
    const { prepared, preparing } = own.state.step(number);
    if (ids === undefined || prepared !== undefined || preparing !== undefined) return [];
    return [{ type: 'prepared', step: number, at: deps.clock.now(), ids }];
  });
  if (entries.length > 0) await appendToRun({ directory, plan, ...own }, { entries, lock }, deps);
}
