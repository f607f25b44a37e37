import type { Step, VerificationCheckStep, VerificationStartStep } from '../../src/job/job.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { aNumber, anInput, aPlan, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aRun, entriesOf, type RunOptions, reportOf, response } from './a-run.js';

export function aStart(changes: Partial<VerificationStartStep> = {}): VerificationStartStep {
  return {
    kind: 'verification.start',
    input: anInput(),
    destination: 'mobile',
    brand: undefined,
    template: undefined,
    source: undefined,
    codeLength: undefined,
    codeValidity: undefined,
    resendingInterval: 10,
    resetSession: undefined,
    whenTooEarly: 'wait',
    duplicates: 'skip',
    limits: someLimits({ concurrency: 1 }),
    ...changes,
  };
}

export function aCheck(changes: Partial<VerificationCheckStep> = {}): VerificationCheckStep {
  return {
    kind: 'verification.check',
    input: anInput({ files: ['codes.csv'] }),
    session: 'sessionId',
    code: 'code',
    limits: someLimits({ concurrency: 1 }),
    ...changes,
  };
}

/** A plan for three numbers. */
export function aStartPlan(step = aStart()): Promise<MadePlan> {
  return aVerificationPlan(step, {
    'people.csv': `mobile\n${[0, 1, 2].map((index) => `${aNumber(index)}\n`).join('')}`,
  });
}

/** A plan for sessions, each with code 1234 unless another is given: `s1`, `s2:9999`. */
export function aCheckPlan(sessions: readonly string[], step = aCheck()): Promise<MadePlan> {
  const rows = sessions.map((session) => session.split(':')).map(([id, code = '1234']) => `${id},${code}\n`);
  return aVerificationPlan(step, { 'codes.csv': `sessionId,code\n${rows.join('')}` });
}

function aVerificationPlan(step: Step, files: Record<string, string>): Promise<MadePlan> {
  return aPlan({ job: { steps: [step] }, files });
}

/** How a session stands, from its read; the id is that of the call. */
export function aSession({ path }: Pick<Call, 'path'>, status: string, attempt: number): Answer {
  return response(200, { uid: sessionOf(path), status, attempt });
}

/** `s1` for a read, `s1?code=1234` for a check. */
export function sessionOf(path: string, { withCode = false } = {}): string {
  const last = path.split('/').at(-1) ?? '';
  return withCode ? last : (last.split('?')[0] ?? '');
}

export function hasCode({ path }: Pick<Call, 'path'>): boolean {
  return path.includes('?code=');
}

type Script = (call: Call, signal: AbortSignal | undefined) => Promise<Answer> | Answer;

/** Sessions of a plan whose codes were sent. */
const checked = new WeakMap<MadePlan, Set<string>>();

/** Whether a call is a read that comes before the check of its session. */
function isLook(made: MadePlan, call: Call): boolean {
  const [step] = made.plan.job.steps;
  if (step?.kind !== 'verification.check' || step.code === undefined) return false;
  const sessions = checked.get(made) ?? new Set();
  checked.set(made, sessions);
  if (hasCode(call)) sessions.add(sessionOf(call.path));
  return !sessions.has(sessionOf(call.path));
}

/**
 * Applies a plan with a service that answers as `answer` says; tells every session that was called, and with which code. What is looked
 * at before a check waits, and is not told, unless `precondition` answers that too.
 */
export async function applyScript(
  made: MadePlan,
  answer: Script,
  options: Pick<RunOptions, 'stop' | 'epoch' | 'onGate' | 'job' | 'lock'> & { precondition?: 'resolved' } = {},
) {
  const sent: string[] = [];
  const transport = {
    send: async (call: Call, signal: AbortSignal | undefined) => {
      if (isLook(made, call) && options.precondition === undefined) return aSession(call, 'WAITING', 0);
      sent.push(sessionOf(call.path, { withCode: true }));
      await Promise.resolve();
      return answer(call, signal);
    },
    close: async () => {},
  };
  const { end, lane } = await aRun({ made, service: { transport }, ...options });
  const entries = entriesOf(made.disk, made.directory);
  const at = entries.flatMap((entry) => ('at' in entry ? [entry.at] : []));
  const passedMs = Math.max(...at) - Math.min(...at);
  const reasons = entries.flatMap((entry) =>
    entry.type === 'outcome' && entry.result.kind === 'settled'
      ? entry.result.outcomes.verdicts.map(({ reason }) => reason)
      : [],
  );
  return { end, lane, sent, entries, passedMs, reasons, summary: await reportOf(made) };
}
