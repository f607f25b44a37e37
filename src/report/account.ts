import { countOf, format, listAll, listMost, listNonZero, listSaid, sumOf } from '../domain/count-of.js';
import { wordsOf } from '../domain/row-codes.js';
import { formatDay } from '../domain/stated-time.js';
import type { FunnelStage, HadFigures, PlannedStep, SuppressionInput } from '../plan/format/plan-file.js';
import type { Reason, ReasonExample } from '../plan/reasons.js';
import { countHad } from '../plan/tally.js';
import { formatAmount, formatDecimal, formatMoney, readNanos } from '../prices/decimal.js';
import { EXPLAINED_OUTPUTS, OUTPUTS } from './outputs.js';
import { countNotSent, type StepSummary, type Summary } from './summary.js';

/**
 * What the account of a run says of its rows, as data: the terminal and the page render the same. A plan's account says its part of it.
 * Nothing is escaped or cut yet.
 */

export interface ExplainedReason {
  readonly rows: number;
  /** `the number has too few digits (too-short)`. */
  readonly is: string;
  /** '' where there is nothing to do. */
  readonly fix: string;
  /** An example of such a row; the commonest reasons alone have one. */
  readonly example: ReasonExample | undefined;
}

/** Why rows of a step stand in each output, the commonest reason first; outputs without rows are omitted. */
export function explainRows(step: StepSummary, { state }: Pick<Summary, 'state'>) {
  const { rejections, doubts = {}, notSent = {}, balance } = step;
  const codes = { rejections, 'in-doubt': doubts, unprocessed: notSent };
  return EXPLAINED_OUTPUTS.flatMap((output) => {
    const counts = Object.entries(codes[output]).sort(([, one], [, other]) => other - one);
    const reasons = counts.map(([code, rows]) => {
      const { said = '', example } = step.reasons.find((each) => each.output === output && each.code === code) ?? {};
      return explainReason({ code, rows, said, example });
    });
    if (output === 'unprocessed' && state !== 'planned') reasons.push(...explainNotReached(step));
    const rows = balance[OUTPUTS[output].counted];
    return rows === 0 || reasons.length === 0 ? [] : [{ output, rows, reasons }];
  });
}

export function explainReason({
  code,
  rows,
  said,
  example,
}: Pick<Reason, 'code' | 'rows' | 'said'> & { readonly example?: ReasonExample | undefined }): ExplainedReason {
  const { is, fix } = wordsOf(code, said);
  return { rows, is: `${is} (${code})`, fix, example };
}

/** Why rows of a plan are rejected, all kinds of it, the commonest first: what it is, how many, the first of the commonest, what to do. */
export function listProblems({ rejections, reasons = [] }: Pick<PlannedStep, 'rejections' | 'reasons'>) {
  const problems = Object.entries(rejections).map(([code, rows]): [string, number, string, string] => {
    const { said = '', example } = reasons.find((each) => each.code === code) ?? {};
    const { is, fix } = explainReason({ code, rows, said });
    const { line = 0, field = '', value = '' } = example ?? {};
    return [is, rows, line === 0 ? '' : `line ${line}${field && `, ${field}`}${value && ` ${value}`}`, fix];
  });
  return problems.sort(([, one], [, other]) => other - one);
}

/** Rows that the run has not reached, and that have no reason of their own. */
function explainNotReached({ balance, notSent = {}, stages }: StepSummary): ExplainedReason[] {
  const rows = balance.unprocessed - sumOf(Object.values(notSent));
  if (rows === 0) return [];
  const { waiting = null } = stages ?? {};
  const is = waiting === null ? 'not reached by the run' : `wait until a person lets stage ${waiting.number} pass`;
  return [{ rows, is, fix: '', example: undefined }];
}

/** What else is said of the rows of a step, a sentence each. */
export function listRemarks({ had, stages }: StepSummary): string[] {
  return listSaid(stages && describeStages(stages), had && describeHad(had));
}

function describeStages({ rows, passed, waiting }: NonNullable<StepSummary['stages']>): string {
  const so =
    waiting === null ? `${format(passed)} passed` : `stage ${waiting.number} waits for a person: ${waiting.why}`;
  return `Sent in ${countOf(rows.length, 'stage')}: ${rows.map(format).join(' + ')} rows; ${so}.`;
}

const MOST_RUNS = 2;
const HAD_WORDS = { hold: 'held', skip: 'skipped', send: 'sent again' } as const;

/** `446 had exactly this text from job herbst on 22 November 2026: held. 3 of those to send had another text from this job, last on …` */
export function describeHad(had: HadFigures): string {
  const { rule, runs, otherText } = had;
  const froms = runs.map(({ job, at }) => `job ${job} on ${formatDay(Date.parse(at))}`);
  const from = listMost([...new Set(froms)], MOST_RUNS);
  return listSaid(
    runs.length > 0 && `${format(countHad(had))} had exactly this text from ${from}: ${HAD_WORDS[rule]}.`,
    otherText &&
      `${format(otherText.rows)} of those to send had another text from this job, last on ${formatDay(Date.parse(otherText.at))}.`,
  ).join(' ');
}

/** `77 skipped: 56 stand twice, 21 left out by a filter`, the commonest first; they need no example. */
export function describeSkips({ balance, skips }: Pick<StepSummary, 'balance' | 'skips'>): string {
  const counts = Object.entries(skips).sort((a, b) => b[1] - a[1]);
  return `${format(balance.skipped)} skipped: ${counts.map(([code, count]) => `${format(count)} ${wordsOf(code, '').is}`).join(', ')}`;
}

const MOST_VALUES = 5;
const SHORT: Readonly<Record<string, string>> = {
  suppressed: 'opt-outs',
  'opted-out': 'opt-outs of the job',
  duplicate: 'duplicates',
  'had-it-already': 'those who had it already',
  'too-often': 'frequency',
  rejected: 'rejections',
};

/** After what so many rows are left: a filter as it is written, `opt-outs`. */
export function nameStage({ code, filter }: FunnelStage): string {
  return filter ?? SHORT[code] ?? wordsOf(code, '').is;
}

/** `no 700, blank 23, other 4`: the commonest values that a filter left out, so that a wrong one is seen; '' where it has none. */
export function listOmitted({ omitted, values = [] }: FunnelStage): string {
  if (omitted === 0 || values.length === 0) return '';
  const shown = values.slice(0, MOST_VALUES);
  const others = omitted - sumOf(shown.map(({ rows }) => rows));
  const listed = shown.map(({ value, rows }) => `${value === '' ? 'blank' : value} ${format(rows)}`);
  return listSaid(...listed, others > 0 && `other ${format(others)}`).join(', ');
}

/** `2 rows in doubt, 3 rows not sent`: what was planned, and not accepted; `takenBackAt`: when, in words. */
export function listNotSent(
  { balance, steps }: { readonly balance: Summary['balance']; readonly steps: readonly StepSummary[] },
  takenBackAt?: string,
): string[] {
  const [takenBack, optedOut, tooLate] = (['cancelled', 'opted-out', 'too-late'] as const).map((code) =>
    countNotSent({ steps }, code),
  ) as [number, number, number];
  const say = (count: number, what: string) => count > 0 && `${countOf(count, 'row')} ${what}`;
  return listSaid(
    say(balance.inDoubt, 'in doubt'),
    say(optedOut, 'opted out meanwhile'),
    say(tooLate, 'not sent by notAfter'),
    say(takenBack, `taken back${takenBackAt === undefined ? '' : ` on ${takenBackAt}`}`),
    say(balance.unprocessed - takenBack - optedOut - tooLate, 'not sent'),
  );
}

type Figures = Omit<SuppressionInput, 'path' | 'sha256'>;

/** What a list did: `stop.csv: 58 read in column mobile · 45 found among the recipients · 13 not · 20 without + read as DE`. */
export function describeList(
  { file, columns, read, found, notFound, withoutPlus, readAs }: Figures,
  among = 'the recipients',
): string {
  return [
    `${file}: ${format(read)} read in ${columns.length === 1 ? 'column' : 'columns'} ${columns.join(', ')}`,
    `${format(found)} found among ${among}`,
    ...listNonZero({ not: notFound, [`without + read as ${readAs}`]: withoutPlus }),
  ].join(' · ');
}

/** Warns that opt-outs of other countries may be missed; undefined where none can be. */
export function warnOfList({ file, columns, ambiguous, readAs }: Figures): string | undefined {
  if (ambiguous === 0) return undefined;
  const read = `${countOf(ambiguous, 'number')} without + ${ambiguous === 1 ? 'was' : 'were'} read as ${readAs}`;
  const keys = columns.length > 1 ? 'column, country or countryColumn' : 'country or countryColumn';
  return `${file}: ${read}, and the recipients are of several countries: opt-outs of the others may be missed. Write them with +; under suppress a list may also state ${keys}`;
}

type Special = Pick<PlannedStep, 'ucs2' | 'ucs2Parts' | 'counts' | 'cost'>;

/**
 * What characters outside GSM-7 do to the messages of a step, as a person pays for it: which, in how many messages, and the
 * price with them and without, or the SMS parts where no prices are known. Undefined where the step has none.
 */
export function describeSpecialCharacters(
  step: Special,
  { currency = '', most }: { currency?: string | undefined; most: number },
): string | undefined {
  const characters = Object.entries(step.ucs2).sort((one, other) => other[1] - one[1]);
  if (characters.length === 0 && step.ucs2Parts === undefined) return undefined;
  const listed = characters.slice(0, most).map(([name, messages]) => `${name} ${format(messages)}`);
  const more = characters.length - listed.length;
  const list = listSaid(...listed, more > 0 && `and ${format(more)} more`).join(', ');
  const effect = compare(step, currency);
  const isOne = characters.length < 2;
  // What must be gone for the figures, where it is not much: `🎉, ’ and –`.
  const names = characters.length > MOST_JOINED ? [] : characters.map(([name]) => shortenName(name));
  const all = listAll(names) ?? (names.length === characters.length ? 'encoding: UCS2' : 'they');
  const what = `special characters: 70 instead of 160 a part${list === '' ? '' : ` for ${list}`}`;
  if (effect === undefined) return `${what}; no message takes more parts`;
  return `${what}; ${all} ${effect.verb}${isOne ? 's' : ''} the ${effect.figures}`;
}

const MOST_JOINED = 4;

/** What is paid with the special characters, and without them; undefined where that is the same. */
function compare({ ucs2Parts = 0, counts, cost }: Special, currency: string) {
  const verbOf = (all: number, without: number) => {
    const times = [2, 3].find((each) => Math.abs(all / without - each) < 0.05);
    return times === undefined ? 'raise' : times === 2 ? 'double' : 'triple';
  };
  const extra = readNanos(cost?.ucs2.extraCost ?? '0');
  if (cost !== undefined && extra > 0n) {
    const [all, without] = [readNanos(cost.total), readNanos(cost.total) - extra];
    const figures = `price, ${formatAmount(cost.total)} instead of ${formatMoney(formatDecimal(without), currency)}`;
    return { verb: verbOf(Number(all), Number(without)), figures };
  }
  if (ucs2Parts === 0) return undefined;
  const [all, without] = [counts.segments, counts.segments - ucs2Parts];
  return { verb: verbOf(all, without), figures: `parts, ${format(all)} instead of ${format(without)}` };
}

/** `’ (U+2019 RIGHT SINGLE QUOTATION MARK)` is `’`. */
export function shortenName(name: string): string {
  return name.split(' (', 1)[0] ?? name;
}
