import { join } from 'node:path';
import type { Area } from '../domain.js';
import { InternalError, UserError } from '../errors.js';
import type { Job } from '../job/job.js';
import { type CloseReason, JOURNAL_VERSION, type Result } from '../journal/format.js';
import { readJournal } from '../journal/reader.js';
import { RunState } from '../journal/replay.js';
import { JournalWriter } from '../journal/writer.js';
import { JOURNAL_FILE, type Plan } from '../plan/file.js';
import { giveAllRows, inDoubt } from '../steps/outcomes.js';
import { kindOf } from '../steps/table.js';
import { applyStep } from './apply-step.js';
import type { Lock } from './lock.js';
import type { RunDeps } from './ports.js';
import type { StopSwitch } from './stop.js';

export interface ApplyOptions {
  readonly directory: string;
  readonly plan: Plan;
  /** Its service, limits and guards hold; what is sent is the plan's alone. */
  readonly job: Pick<Job, 'service' | 'guards' | 'steps'>;
  readonly lock: Lock;
  readonly stop: StopSwitch;
}

export interface ApplyEnd {
  readonly reason: CloseReason;
  readonly detail: string;
}

/**
 * Applies a plan, or goes on where an earlier process ended, until every request is settled or `stop` says so.
 * Requests that were in flight when that process died are put in doubt, or sent again where that is safe.
 */
export async function applyPlan(options: ApplyOptions, deps: RunDeps): Promise<ApplyEnd> {
  const { directory, plan, lock, stop } = options;
  const path = join(directory, JOURNAL_FILE);
  const state = new RunState();
  const end = await readJournal(deps.files, path, (line) => state.apply(line.entry));
  assertSamePlan(state, plan, path);
  if (state.isFinished) return { reason: 'finished', detail: '' };

  const file = await deps.files.openAppend(path);
  if (end.tornBytes > 0) {
    deps.onNotice(
      `The journal's last ${end.tornBytes} bytes were never whole, and are cut off (a crash while writing)`,
    );
    await file.truncate(end.goodBytes);
  }
  // What was read may still be in the cache of a process that died; from here on lines build upon it.
  await file.sync();
  // The lock's epochs begin anew when its file is deleted; those of a journal must not, or its lines are passed over.
  const epoch = Math.max(lock.epoch, end.lastEpoch + 1);
  const journal = new JournalWriter(file, { epoch, seq: end.lastSeq });
  try {
    const { host, pid } = deps.owner;
    await journal.append({ type: 'open', version: JOURNAL_VERSION, plan: plan.id, at: deps.clock.now(), host, pid });
    await closeInFlight(state, journal, { plan, deps });
    await applySteps(options, deps, { state, journal });
    const { reason, detail } = stop.reason ?? { reason: 'finished' as const, detail: '' };
    await lock.assertHeld();
    await journal.append({ type: 'close', at: deps.clock.now(), reason, detail });
    return { reason, detail };
  } finally {
    await journal.close();
  }
}

async function applySteps(
  { directory, plan, job, lock, stop }: ApplyOptions,
  deps: RunDeps,
  { state, journal }: { state: RunState; journal: JournalWriter },
): Promise<void> {
  const lastSentAt = new Map<Area, number>();
  for (const planned of plan.steps) {
    if (stop.isRequested) return;
    const step = job.steps[planned.number - 1];
    if (step === undefined || step.kind !== planned.kind) {
      throw new InternalError(
        'unexpected',
        `Cannot apply step ${planned.number}: the job has no such ${planned.kind} step`,
      );
    }
    const progress = state.step(planned.number);
    const hasWork = progress.open.size > 0 || progress.nextRequest <= planned.counts.requests;
    if (!hasWork) continue;
    const kind = kindOf(step);
    await applyStep({
      planId: plan.id,
      kind,
      service: job.service,
      deps,
      journal,
      lock,
      stop,
      directory,
      step,
      planned,
      progress,
      lastSentAt: lastSentAt.get(kind.area) ?? state.lastIntentAt,
      maxFailedPercent: job.guards.maxFailedPercent,
    });
    lastSentAt.set(kind.area, deps.clock.now());
  }
}

/** What stands between intent and outcome when a process dies may or may not have been processed. */
async function closeInFlight(
  state: RunState,
  journal: JournalWriter,
  { plan, deps }: { plan: Plan; deps: RunDeps },
): Promise<void> {
  for (const planned of plan.steps) {
    const step = plan.job.steps[planned.number - 1];
    if (step === undefined) continue;
    for (const open of [...state.step(planned.number).open.values()]) {
      if (!open.isInFlight) continue;
      const reason = 'The run ended before the answer came: it may or may not have been processed';
      const result: Result = kindOf(step).isRepeatable
        ? { kind: 'again', why: 'the run ended before the answer came' }
        : { kind: 'settled', outcomes: giveAllRows(open.rows[1], inDoubt('run-ended', reason)) };
      const entry = {
        type: 'outcome',
        step: open.step,
        request: open.request,
        part: open.part,
        at: deps.clock.now(),
        result,
      } as const;
      await journal.append(entry);
      state.apply(entry);
    }
  }
}

function assertSamePlan(state: RunState, plan: Plan, path: string): void {
  const open = state.firstOpen;
  if (open === undefined) return;
  if (open.version !== JOURNAL_VERSION) {
    throw new UserError(
      'bad-plan',
      `Cannot read ${path}: its version is ${open.version}, expected ${JOURNAL_VERSION}`,
      {
        hint: 'Finish the run with the version of volley that began it.',
      },
    );
  }
  if (open.plan !== plan.id) {
    throw new InternalError('journal-damaged', `Cannot go on: ${path} belongs to plan ${open.plan}, not ${plan.id}`);
  }
}
