import type { OpenDoubt, Summary } from '../../src/report/summary.js';
import { EXAMPLES } from '../kinds/examples.js';
import type { CrashDisk } from '../world/crash-disk.js';
import { judgeRow, type Output } from '../world/judge.js';
import { Violation } from '../world/violation.js';
import { readStep, stepsOf } from './account.js';
import type { RunWatch } from './run-watch.js';
import type { Scenario } from './scenario.js';

type Step = Summary['steps'][number];

type Known = Readonly<{ disk: CrashDisk; scenario: Scenario; watch: RunWatch }>;

/** What a process printed on stdout: the summaries of its runs, the last one first; none where nothing was to be done, or it failed. */
export function readPrinted(text: string): Summary[] {
  const printed = parsePrinted(text);
  const last = 'steps' in printed ? [printed as unknown as Summary] : [];
  return [...last, ...(printed.earlier ?? [])];
}

type Printed = Readonly<{ state: string; exitCode: number; earlier?: readonly Summary[]; openDoubt: OpenDoubt }>;

export function parsePrinted(text: string): Printed {
  return JSON.parse(text) as Printed;
}

/**
 * Holds what a process prints, at that moment, to what of the journal is durable, to the outputs on disk, row by row, and to
 * the service's ledger. `isAlone`: no other process was at work meanwhile, so that nothing has changed since it was counted.
 */
export function checkPrinted(text: string, { isAlone }: { isAlone: boolean }, told: Known): void {
  told.watch.look();
  for (const summary of readPrinted(text)) {
    if (isAlone) checkRun(summary, told);
    for (const step of summary.steps) {
      if (step.action !== null || Object.keys(step.files).length === 0) continue;
      checkSum(step, told.scenario);
      if (isAlone) checkStep(step, told);
    }
  }
}

function checkRun(summary: Summary, { disk, scenario, watch: { record, directory } }: Known): void {
  const { state, stop, directory: named, steps } = summary;
  if (named !== directory) throw new Violation(`it tells of ${named}, and the run is ${directory}`);
  const reason = state === 'finished' ? 'finished' : stop?.reason;
  if (state === 'unfinished' || reason !== record.close) {
    throw new Violation(`it tells of a run that is ${state} (${reason}), and its journal ends with ${record.close}`);
  }
  const kept = String(disk.volume.readFileSync(`${directory}/summary.json`, 'utf8'));
  const { exitCode, ...figures }: Summary = JSON.parse(kept);
  const told = { ...summary, earlier: undefined, openDoubt: undefined, exitCode: undefined, error: undefined };
  if (JSON.stringify(figures) !== JSON.stringify(told)) throw new Violation('it prints another summary than it keeps');
  const expected = exitCodeFor([summary], scenario);
  if (exitCode !== expected) throw new Violation(`its summary has the exit code ${exitCode}, expected ${expected}`);
  for (const { number, action } of steps) {
    const { entry, verdict } = record.actionOf(number);
    const status = entry === undefined ? verdict?.status : 'in-doubt';
    if (action?.status !== status)
      throw new Violation(`step ${number} is reported as ${action?.status}, and is ${status}`);
  }
}

function checkSum({ number, balance }: Step, { rows }: Scenario): void {
  const { read, accepted, rejected, skipped, inDoubt, unprocessed } = balance;
  if (read === rows.length && read === accepted + rejected + skipped + inDoubt + unprocessed) return;
  throw new Violation(`step ${number} tells of ${JSON.stringify(balance)}, and has ${rows.length} rows`);
}

const COUNTED_AS: Record<Output, keyof Step['balance']> = {
  results: 'accepted',
  rejections: 'rejected',
  skipped: 'skipped',
  'in-doubt': 'inDoubt',
  unprocessed: 'unprocessed',
};

function checkStep({ number, balance }: Step, { disk, scenario, watch }: Known): void {
  const step = stepsOf(scenario).find((one) => one.number === number);
  if (step === undefined || watch.directory === undefined) throw new Violation(`step ${number} is no step with rows`);
  const expected = listExpected(number, watch);
  const counted = new Map<Output, number>();
  for (const [row, outcome] of readStep(disk, watch.directory, step)) {
    const { output } = outcome;
    counted.set(output, (counted.get(output) ?? 0) + 1);
    if (expected.get(row) !== output) {
      throw new Violation(`${step.kind} row ${row} is in ${output}, and by its journal in ${expected.get(row)}`);
    }
    judgeRow(step, step.rows[row - 1]!, outcome, watch.kept);
  }
  for (const [output, name] of Object.entries(COUNTED_AS)) {
    const count = counted.get(output as Output) ?? 0;
    if (balance[name] !== count) throw new Violation(`step ${number} tells of ${balance[name]} ${name}, not ${count}`);
  }
}

/** Number of each row of a step → where it stands, by plan and journal. */
function listExpected(number: number, { record, rows }: RunWatch): Map<number, Output> {
  const expected = new Map<number, Output>();
  let planned = 0;
  const { kind, lines = [] } = rows[number - 1] ?? {};
  const mayRepeat = kind !== undefined && EXAMPLES[kind].isHarmlessTwice === true;
  for (const { state, row } of lines) {
    if (state === 'planned') expected.set(row, outputOf(record.stateOf(number, planned++), mayRepeat));
    else expected.set(row, state === 'rejected' ? 'rejections' : 'skipped');
  }
  return expected;
}

/** What may be sent again, and was under way, is as good as never begun. */
function outputOf(state: ReturnType<RunWatch['record']['stateOf']>, mayRepeat: boolean): Output {
  if (state === 'accepted') return 'results';
  if (state === 'rejected') return 'rejections';
  if (state === 'in-doubt') return 'in-doubt';
  return state === 'in-flight' && !mayRepeat ? 'in-doubt' : 'unprocessed';
}

/** The exit code that an account calls for: the gravest of its runs', and of those that it names as in doubt. */
export function exitCodeOfPrinted(text: string, scenario: Scenario): number {
  const { state, openDoubt } = parsePrinted(text);
  const summaries = readPrinted(text);
  if (state !== 'nothing-new') return exitCodeFor(summaries, scenario);
  return openDoubt.rows > 0 && scenario.job.failOn !== 'nothing' ? 3 : 0;
}

/** The exit code that summaries call for: the gravest of theirs. */
export function exitCodeFor(summaries: readonly Summary[], { job: { failOn, sameText = 'hold' } }: Scenario): number {
  const codes = summaries.map(({ state, stop, balance, steps }): number => {
    const isOrderly = state === 'finished' || stop?.reason === 'sampled';
    if (!isOrderly) return stop === null || AGAIN.has(stop.reason) ? 75 : 4;
    const isAny = (status: string) => steps.some(({ action }) => action?.status === status);
    if ((balance.inDoubt > 0 || isAny('in-doubt')) && failOn !== 'nothing') return 3;
    const sum = (count: (step: Step) => number | undefined) =>
      steps.reduce((total, step) => total + (count(step) ?? 0), 0);
    const optedOut = sum(({ notSent }) => notSent?.['opted-out']);
    const held = sameText === 'hold' ? sum(({ skips }) => skips['had-it-already']) : 0;
    const unsent = state === 'finished' ? balance.unprocessed - optedOut : 0;
    const isLess = balance.rejected + unsent + held > 0 || isAny('rejected');
    return isLess && failOn === 'rejections' ? 1 : 0;
  });
  return [4, 75, 3, 1].find((code) => codes.includes(code)) ?? 0;
}

const AGAIN: ReadonlySet<string> = new Set(['interrupted', 'unavailable', 'closed']);
