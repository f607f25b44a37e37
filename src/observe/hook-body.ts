import type { Failure } from '../command/failure.js';
import type { NotifySettings } from '../job/job.js';
import type { NotifyEvent } from '../job/schema/notify.js';
import { COLUMNS_FOLLOW } from '../normalize/explain-missing-column.js';
import { maskNumbers } from '../normalize/mask.js';
import { EXIT } from '../report/exit-code.js';
import type { Summary } from '../report/summary.js';

/** How a command ended. */
export interface Ended {
  readonly command: 'run' | 'apply';
  readonly state: Summary['state'] | Failure['state'] | 'nothing-new';
  readonly exitCode: number;
  /** As the log has it; what it lists of a file's columns is not posted. */
  readonly reason: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Of the runs that it finished or applied, and at last of the plan that a guard refused. */
  readonly summaries?: readonly Summary[];
  /** Rows of all runs of the job; unknown where the command failed. */
  readonly openDoubt?: number;
}

/** What is posted for that end; undefined where it is not asked for, or where the command did not take its turn. */
export function chooseEvent({ exitCode, error }: Ended, on: NotifySettings['on']): NotifyEvent | undefined {
  if (error !== null && NOT_ITS_TURN.has(error.code)) return undefined;
  if (error?.code === 'missing-input') {
    return on.includes('missing-input') || on.includes('failure') ? 'missing-input' : undefined;
  }
  const event = exitCode === EXIT.ok ? 'success' : exitCode === EXIT.inDoubt ? 'in-doubt' : 'failure';
  return on.includes(event) ? event : undefined;
}

/** The process that has the job posts its own end; before `notBefore` nothing has begun. */
const NOT_ITS_TURN: ReadonlySet<string> = new Set(['lock-held', 'not-yet']);

/**
 * Figures and names alone: no cell of a file, no number, no text, and no example of a row. `run`, `balance` and `steps` are those of
 * the last of the runs.
 */
export function describeEnd(ended: Ended, about: { event: NotifyEvent; job: string; sandbox: boolean; at: string }) {
  const { command, state, exitCode, reason, summaries = [], openDoubt = null } = ended;
  const stop = summaries.at(-1)?.stop ?? null;
  const error = ended.error ?? (stop && { code: stop.reason, message: stop.detail });
  const { event, job, sandbox, at } = about;
  const runs = summaries.map(describeRun);
  const { run, balance, steps } = runs.at(-1) ?? { run: null, balance: null, steps: [] };
  return {
    format: 1,
    event,
    job,
    command,
    sandbox,
    at,
    run,
    state,
    exitCode,
    reason: maskNumbers(reason.split(COLUMNS_FOLLOW, 1)[0] ?? ''),
    error: error && { code: error.code, message: maskNumbers(error.message) },
    openDoubt,
    balance,
    steps,
    runs,
  };
}

function describeRun({ plan, state, exitCode, balance, steps }: Summary) {
  return {
    run: plan,
    state,
    exitCode,
    balance,
    steps: steps.map(({ number, kind, balance, requests, messages, segments, rejections, skips }) => ({
      number,
      kind,
      balance,
      requests,
      messages,
      segments,
      rejections,
      skips,
    })),
  };
}
