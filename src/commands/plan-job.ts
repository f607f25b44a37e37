import { envOf, type Host } from '../command/deps.js';
import { describeFailure } from '../command/failure.js';
import { placeProblems } from '../command/place-problems.js';
import { printResult } from '../command/print.js';
import { type CommandEnd, logCommand, type NameFields } from '../command/runner.js';
import { screenOf } from '../command/screen.js';
import { onFirstSignal } from '../command/signals.js';
import { jobDirectoryOf } from '../command/with-job.js';
import type { Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import type { Plan } from '../plan/format/plan-file.js';
import { checkGuards } from '../plan/guards.js';
import type { PlanOutcome } from '../plan/make-plan.js';
import { readOpenDoubt } from '../registry/open-doubt.js';
import { EXIT } from '../report/exit-code.js';
import { explainDoubt, explainPlan } from '../texts/explain-end.js';
import { formatPlan, summarizePlan } from '../texts/plan-text.js';
import { formatOpenDoubt } from '../texts/summary-text.js';
import { formatIdle } from './run-job.js';
import { planJobInput } from './session/session.js';

export interface PlanFlags {
  readonly job: string;
  readonly again: boolean;
  /** Accepts a job directory that was copied or restored. */
  readonly adopt?: boolean;
  readonly json: boolean | undefined;
}

/** `volley plan JOB`: reads and checks all input, writes the exact requests, prints what would be sent. Sends nothing. */
export function planJob(flags: PlanFlags, terminal: Host): Promise<number> {
  return logCommand(terminal, { command: 'plan', file: flags.job }, (name) => planNamed(flags, { terminal, name }));
}

async function planNamed(
  flags: PlanFlags,
  { terminal, name }: { terminal: Host; name: NameFields },
): Promise<CommandEnd> {
  const job = await loadJob(flags.job);
  name({ job: job.name });
  const { made, leftOut } = await placeProblems({ file: flags.job, files: envOf(terminal).files }, () =>
    planUntilSignal(job, flags, terminal),
  );
  if (made === undefined) {
    const directory = jobDirectoryOf(job);
    const openDoubt = await readOpenDoubt(envOf(terminal).files, directory, { isSandbox: job.service.sandbox });
    const json = { job: job.name, state: 'nothing-new', directory, exitCode: EXIT.ok, error: null, leftOut, openDoubt };
    const screen = screenOf(terminal);
    const text = `${formatIdle(job, leftOut, { path: flags.job, screen })}${formatOpenDoubt(openDoubt, [], screen)}`;
    await printResult(terminal, flags, { json, text });
    name({ state: 'nothing-new', openDoubt: openDoubt.rows });
    const reasons = ['nothing new', explainDoubt(openDoubt.runs)];
    return { exitCode: EXIT.ok, reason: reasons.filter((reason) => reason !== '').join('; ') };
  }
  const { plan, directory } = made;
  const { reason, fields } = explainPlan(plan);
  name(fields);
  const refusal = refusalOf(() => checkGuards(plan, job.guards));
  const nowMs = envOf(terminal).clock.now();
  const text = formatPlan(plan, directory, { nowMs, screen: screenOf(terminal), isRefused: refusal !== undefined });
  const exitCode = isInVain(plan) ? EXIT.rejected : EXIT.ok;
  const end = refusal === undefined ? { exitCode, error: null } : describeFailure(refusal.error);
  await printResult(terminal, flags, { json: { ...summarizePlan(plan, directory, nowMs), ...end }, text });
  if (refusal !== undefined) throw refusal.error;
  return { exitCode, reason };
}

/** Every row that was to be sent is rejected: then something is wrong with the job or the file, such as a format. */
function isInVain({ steps, job }: Plan): boolean {
  const rows = steps.map(({ counts }) => counts);
  const isRejected = rows.some(({ rejected }) => rejected > 0) && rows.every(({ planned }) => planned === 0);
  return isRejected && job.failOn === 'rejections';
}

function refusalOf(check: () => void): { readonly error: unknown } | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** A signal ends it at once, and leaves no plan. */
async function planUntilSignal(job: Job, { again, adopt }: PlanFlags, terminal: Host): Promise<PlanOutcome> {
  const signalled = new AbortController();
  const stopListening = onFirstSignal(terminal, () => signalled.abort());
  try {
    return await planJobInput(terminal, job, { isAgain: again, adopt, signal: signalled.signal });
  } finally {
    stopListening();
  }
}
