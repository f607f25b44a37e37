import { join } from 'node:path';
import { type NextStep, type Screen, showPath } from '../command/screen.js';
import { countOf, format, sumOf } from '../domain/count-of.js';
import { isRefusedForNow } from '../domain/row-codes.js';
import { formatTime, millisecondsOf } from '../domain/stated-time.js';
import type { LeftOut } from '../plan/select-inputs.js';
import { countHeld } from '../plan/tally.js';
import { wordsOfStop } from '../report/stop-words.js';
import { countNotSent, countUnsent, nameUnsent, type StepSummary, type Summary } from '../report/summary.js';
import type { SentAgain } from '../retry/claiming-plan.js';

export interface NextStepView {
  readonly isSandbox: boolean;
  /** Whether the job has `guards.requireTest`. */
  readonly requiresTest?: boolean | undefined;
  /** The run that has the rows of this one since, by `--again`: of this one none is retried any more. */
  readonly sentAgain?: SentAgain | undefined;
  /** The path of the job file, where the command was given one. */
  readonly job?: string | undefined;
  /** Flags that they gave it, without which the same command is refused. */
  readonly flags?: readonly string[] | undefined;
  /** What is to be done with the plan where it was not sent; of a test, with the one that it tested. */
  readonly planned?: NextStep | undefined;
}

/** What to do after a run; undefined when nothing is left to do. */
export function nextStep(summary: Summary, view: NextStepView, screen: Screen): NextStep | undefined {
  const { balance, exitCode, state, stop } = summary;
  const { directory } = summary;
  const same = resumeCommand(directory, view.job, view.flags);
  const retry = createRetry(directory, view);
  if (summary.testOf !== undefined) return nextOfTest(summary, view);
  if (state === 'planned') return nextOfUnbegun(summary, view, screen);
  if (stop?.reason === 'sampled' || stop?.reason === 'held') return nextOfStage(summary, view.job);
  if (exitCode === 75) return { what: sayResume(stop), command: same };
  if (exitCode === 4 && stop !== null) {
    const { fix, isResumed } = wordsOfStop(stop);
    if (isResumed) return { what: sayResume(stop), command: same };
    const isStaged = summary.steps.some(({ stages }) => stages?.rows.slice(stages.passed + 1).some((rows) => rows > 0));
    if (!isStaged || stop.reason === 'abandoned') return retry(fix, 'unprocessed', true);
    const what = `${fix}; as its stage was not sent to its end, let the run go before that`;
    return { what, command: ['abandon', directory] };
  }
  if (balance.inDoubt > 0) return nextOfDoubt(summary);
  if (balance.unprocessed > 0 && stop?.reason === 'abandoned') {
    const so = `${wereNotSent(balance.unprocessed)}, and this run never sends them: make a plan to send them`;
    return retry(so, nameUnsent(summary));
  }
  if (summary.takenBackAt !== undefined && countNotSent(summary, 'cancelled') > 0)
    return nextOfTakenBack(directory, view);
  const rest = () => {
    if (balance.rejected === 0) return undefined;
    const codes = summary.steps.flatMap(({ rejections }) => Object.keys(rejections));
    if (codes.length === 0 || !codes.every(isRefusedForNow)) return nextOfRejected(summary, view, screen);
    const so = `${countOf(balance.rejected, 'row')} ${balance.rejected === 1 ? 'was' : 'were'} refused for now alone, with nothing to correct`;
    return retry(`${so}: a little later, make a plan to send them`, 'rejected');
  };
  // Rejections stay in the account of their run, also once they are sent.
  return nextOfUnsent(summary, retry) ?? nextOfHeld(summary, retry) ?? rest();
}

/** The message export has rows of SMS alone; others are decided on, step by step. */
function nextOfDoubt({ directory, balance: { inDoubt }, steps }: Summary): NextStep {
  const others = steps.filter(({ kind, balance }) => kind !== 'sms' && balance.inDoubt > 0);
  const ofOthers = sumOf(others.map(({ balance }) => balance.inDoubt));
  const [first] = others;
  if (ofOthers < inDoubt || first === undefined) {
    const without = ofOthers === 0 ? '' : `; it says nothing of the ${format(ofOthers)} that are no SMS`;
    const times = steps.flatMap(({ scheduled, balance }) => (balance.inDoubt > 0 && scheduled ? [scheduled] : []));
    const latest = times.sort((one, other) => millisecondsOf(one) - millisecondsOf(other)).at(-1);
    const get = latest === undefined ? 'Get' : `Once ${formatTime(latest)} has passed, get`;
    const what = `${sayDoubt(inDoubt)}. ${get} the message export of that day from the service, and settle them with it${without}`;
    return { what, command: ['settle', directory, '--export', 'messages.csv'] };
  }
  const { of, flags, why } = usualDecision(first, others.length === 1);
  return { what: `${sayDoubt(first.balance.inDoubt, of)}. ${why}`, command: ['settle', directory, ...flags] };
}

/**
 * What a person decides of the rows of a step in doubt where nothing proves what became of them, as flags, and why; where it hangs on what they
 * find, `sent`. `of`: which step, where others have such rows.
 */
export function usualDecision(
  { number, kind, balance }: Pick<StepSummary, 'number' | 'kind' | 'balance'>,
  isOnly: boolean,
): { readonly of: string; readonly flags: readonly string[]; readonly why: string } {
  const { assume, why } = DECISIONS[kind] ?? LOOK_FOR_THEM;
  const [of, step] = isOnly ? ['', []] : [` of step ${number} (${kind})`, ['--step', String(number)]];
  return { of, why, flags: ['--assume', assume, ...step, '--confirm', String(balance.inDoubt)] };
}

const DECISIONS: Readonly<Record<string, { readonly assume: string; readonly why: string }>> = {
  contacts: {
    assume: 'not-sent',
    why: 'A contact that is sent again is merged into the one that is there: count them as not sent, then send them again',
  },
  'verification.check': {
    assume: 'not-sent',
    why: 'Counted as sent, their codes would pass for right: count them as not sent, then check them again, which may use up another try',
  },
};

const LOOK_FOR_THEM = {
  assume: 'sent',
  why: 'The message export says nothing of them, as they are no SMS: look for them at the service, then decide for all of them, sent or not-sent',
};

function sayDoubt(rows: number, of = ''): string {
  return `${countOf(rows, 'row')} in doubt${of} may or may not have been sent; Volley never sends them again on its own`;
}

function sayResume(stop: Summary['stop']): string {
  const { fix, orElse } = stop === null ? { fix: '', orElse: '' } : wordsOfStop(stop);
  return `${fix === '' ? '' : `${fix}; then `}the same command resumes the run${orElse}`;
}

/** A plan of rows of the run; `isCorrected`: under a job that a person has corrected. */
type Retry = (what: string, only: string, isCorrected?: boolean) => NextStep;

/** A run does not know the file of its job: where nobody named it, the words say what the command lacks. */
function createRetry(directory: string, { job, sentAgain }: Pick<NextStepView, 'job' | 'sentAgain'>): Retry {
  return (what, only, isCorrected = false) => {
    if (sentAgain !== undefined) return nextOfSentAgain(sentAgain);
    const corrected = isCorrected && job !== undefined ? ['--job', job] : [];
    const lacks = isCorrected && job === undefined ? ', with --job and a job file of the same steps added' : '';
    return { what: `${what}${lacks}`, command: ['retry', directory, '--only', only, ...corrected] };
  };
}

function nextOfUnsent(summary: Summary, retry: Retry): NextStep | undefined {
  const tooLate = countNotSent(summary, 'too-late');
  if (tooLate > 0) {
    const so = `${wereNotSent(tooLate)} by notAfter`;
    return retry(`${so}: set a later one in the job, then make a plan of them`, 'unprocessed', true);
  }
  const had = countNotSent(summary, 'had-it-already', 'too-often');
  const left = countUnsent(summary);
  if (left > 0) return retry(`${countOf(left, 'row')} turned out not to be sent: make a plan to send them`, 'not-sent');
  if (had === 0) return undefined;
  const so = `${wereNotSent(had)}, as other runs wrote to their numbers since the plan was made`;
  const what = `${so}. To send them all the same, say sameText: send, and no frequency, in the job, then make a plan of them`;
  return retry(what, 'unprocessed', true);
}

/** What is said of rows that `--again` has sent since, in the place of a retry, which would be refused. */
export function nextOfSentAgain({ run, file }: SentAgain): NextStep {
  const what = `run ${run} has sent ${file} again since, with --again: what this run did not send, it never will, and no plan takes it. Retry the rows of that run`;
  return { what };
}

function wereNotSent(rows: number): string {
  return `${countOf(rows, 'row')} ${rows === 1 ? 'was' : 'were'} not sent`;
}

function nextOfHeld(summary: Summary, retry: Retry): NextStep | undefined {
  const { had, noZone } = countHeld(summary);
  const held = (rows: number) => `${countOf(rows, 'row')} ${rows === 1 ? 'is' : 'are'} held`;
  // Where failOn does not count them there is nothing to decide.
  if (had > 0 && summary.exitCode !== 0) {
    const what = `${held(had)}, as the number had the text already. If that is right, say so by sameText: skip in the job. Only to send it to them again, make a plan of them`;
    return retry(what, 'had-it-already');
  }
  const what = `${held(noZone)}, as no time zone is known. Say in the job whose clock counts, with window.timeZone, then make a plan of them`;
  return noZone === 0 ? undefined : retry(what, 'no-time-zone', true);
}

function nextOfStage({ directory, plan, stop, steps }: Summary, job: string | undefined): NextStep {
  const isSample = stop?.reason === 'sampled';
  const again =
    stop?.fault === 'needs-receipts' ? ' the same command judges it again, by the receipts that came until then;' : '';
  const what = isSample
    ? 'look at how the sample went; to send the rest'
    : `look at how the stage went;${again} to send the rest all the same`;
  if (isSample && job !== undefined) return { what, command: ['run', job, '--rest'] };
  const { number = 1 } = steps.find(({ stages }) => stages?.waiting)?.stages?.waiting ?? {};
  return { what, command: ['apply', directory, '--pass-stage', String(number), '--confirm', plan] };
}

/** What to do about messages that a cancel took back; `job`: as the person named its file. */
export function nextOfTakenBack(...of: Parameters<typeof createRetry>): NextStep {
  return createRetry(...of)('to send them under a corrected text: correct the job, then', 'not-sent', true);
}

/** What to do about rows of a file that the run which took it did not send, or not yet. */
export function nextOfRest(
  { directory, next, isAsPlanned = false }: NonNullable<LeftOut['rest']>,
  job: string | undefined,
): NextStep {
  if (next === 'cancel') {
    const what = 'to send them as the job is now, and not as they wait there, take them back first';
    return { what, command: ['cancel', directory] };
  }
  if (next === 'apply') return { what: 'send that plan', command: resumeCommand(directory) };
  // Perhaps a person has to decide before.
  if (next === 'resume')
    return { what: 'see how far that run is, and what resumes it', command: ['status', directory] };
  const only = next === 'cancelled' ? 'not-sent' : next;
  if (isAsPlanned) {
    const what =
      next === 'filtered'
        ? 'the job has other steps now: to send those rows, write a job file with the steps of that run and this where, and make a plan of them, with --job and that file added'
        : 'to send those rows as they were planned, since the job has other steps now, make a plan of them';
    return createRetry(directory, {})(what, only);
  }
  if (next === 'cancelled') return nextOfTakenBack(directory, { job });
  const what = 'to send those rows as the job is now, make a plan of them';
  return createRetry(directory, { job })(what, only, true);
}

function resumeCommand(directory: string, job?: string, flags: readonly string[] = []): string[] {
  return [...(job === undefined ? ['apply', directory] : ['run', job]), ...flags];
}

function nextOfUnbegun(summary: Summary, view: NextStepView, screen: Screen): NextStep {
  // A step without rows has no funnel, and something to do.
  const isEmpty = summary.balance.unprocessed === 0 && summary.steps.every(({ funnel }) => funnel !== undefined);
  if (!isEmpty) return view.planned ?? { what: 'send it', command: resumeCommand(summary.directory) };
  const none = 'there is nothing in it to send';
  if (summary.balance.rejected === 0) return { what: `${none}: every row was skipped` };
  const next = nextOfRejected(summary, view, screen);
  return { ...next, what: `${none}: ${next.what}` };
}

function nextOfTest({ directory, state, balance }: Summary, { isSandbox, job, planned }: NextStepView) {
  if (state !== 'finished') return { what: 'resume the test', command: resumeCommand(directory) };
  if (balance.accepted < balance.read) return { what: 'see why above; then test again' };
  const what = isSandbox ? 'the sandbox accepted them:' : 'once the messages look right on your phones,';
  if (planned !== undefined) return { ...planned, what: `${what} ${planned.what}` };
  return job === undefined ? undefined : { what: `${what} plan the job`, command: ['plan', job] };
}

function nextOfRejected({ directory, steps }: Summary, { job, requiresTest }: NextStepView, screen: Screen): NextStep {
  const files = steps.flatMap(({ number, kind, balance, files: { rejections } }) =>
    balance.rejected > 0 ? [rejections ?? `${number}-${kind}.rejections.csv`] : [],
  );
  const [first] = files;
  const path = (name: string) => showPath(screen, join(directory, name));
  const file = files.length === 1 && first !== undefined ? path(first) : 'a rejections file';
  // Without a test of the new plan, `run` is refused.
  const [verb, again] = requiresTest === true ? ['plan', 'plan and test it'] : ['run', 'run'];
  return {
    what: `correct the rows in ${file}, or only the job where that is at fault, save the file where input.files of the step finds it, and ${again} again. Nothing is sent twice.`,
    command: job === undefined ? undefined : [verb, job],
  };
}
