import { countOf, format } from '../domain/count-of.js';
import { type Problem, UserError } from '../domain/errors.js';
import { formatTime, listZones, millisecondsOf, readClock, type StatedTime } from '../domain/stated-time.js';
import { OpeningHours, type Window, zonesOf } from '../hours/window.js';
import { type RecordReader, readBatches } from '../input/record-reader.js';
import { type Guards, isRowStep, type Job, type JobPrices, type RowStep, type Step } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import { nameCountry } from '../normalize/country.js';
import { CostTally, type PlannedPrices, sumCost } from '../prices/cost-tally.js';
import { formatMoney, readNanos } from '../prices/decimal.js';
import { PriceList, PriceListParser, type PriceRow } from '../prices/price-list.js';
import { type Plan, totalOf } from './format/plan-file.js';
import type { InputReader } from './plan-deps.js';
import type { ProblemList } from './problems.js';

/** Refuses a plan that violates a guard of the job, before anything is sent. */
export function checkGuards(plan: Pick<Plan, 'steps' | 'prices'>, guards: Guards): void {
  const problems = findGuardFaults(plan, guards);
  if (problems.length === 0) return;
  throw new UserError('guard', 'Cannot send: the plan fails a guard of the job', {
    hint: 'Nothing was sent.',
    problems,
  });
}

/** Finds which guards of a job a plan violates. Pure. */
export function findGuardFaults(plan: Pick<Plan, 'steps' | 'prices'>, guards: Guards): Problem[] {
  const problems: Problem[] = [];
  const { maxRejectedPercent, maxMessages, maxSegments, maxCost } = guards;
  for (const { number, kind, counts, skips } of plan.steps) {
    // Filtered rows do not count: they would hide the share of wrong ones.
    const considered = counts.read - (skips.filtered ?? 0);
    const percent = considered === 0 ? 0 : (counts.rejected * 100) / considered;
    if (maxRejectedPercent !== undefined && percent > maxRejectedPercent) {
      const share = `${counts.rejected} of ${countOf(considered, 'row')} (${percent.toFixed(1)} %)`;
      problems.push({
        where: `step ${number} (${kind})`,
        message: `${share} would be rejected, expected at most maxRejectedPercent ${maxRejectedPercent}`,
        hint: 'Check the rejections file; fix the input, or raise the guard if this is right.',
      });
    }
  }
  const limits = [
    ['messages', 'maxMessages', maxMessages],
    ['segments', 'maxSegments', maxSegments],
  ] as const;
  for (const [of, guard, most] of limits) {
    const total = totalOf(plan, of);
    if (most === undefined || total <= most) continue;
    problems.push({ where: 'plan', message: `${total} ${of} would be sent, expected at most ${guard} ${most}` });
  }
  const cost = sumCost(plan.steps);
  if (maxCost !== undefined && plan.prices !== undefined && readNanos(cost) > readNanos(maxCost)) {
    const message = `${formatMoney(cost, plan.prices.currency)} would be spent, expected at most maxCost ${maxCost}`;
    problems.push({ where: 'plan', message });
  }
  return problems;
}

/** Whether nothing of a plan would be sent; a step without rows does one thing. */
export function sendsNothing({ steps }: Pick<Plan, 'steps'>): boolean {
  return steps.every(
    ({ counts, inputs, examples }) => counts.planned === 0 && (inputs.length > 0 || examples.length === 0),
  );
}

/** A sheet has 1,048,576 rows, of which the header is one. */
const MOST_SHEET_ROWS = 1_048_575;

/** Refuses outputs that would not fit a sheet, before anything is sent; receipts of all steps stand in one. */
export function assertFitsSheets({ output }: Pick<Job, 'output'>, steps: Pick<Plan, 'steps'>['steps']): void {
  if (output.format !== 'xlsx') return;
  const messages = totalOf({ steps }, 'messages');
  const most = Math.max(messages, ...steps.map(({ counts }) => counts.read));
  if (most <= MOST_SHEET_ROWS) return;
  throw new UserError(
    'bad-input',
    `Cannot plan the job: ${countOf(most, 'row')} would stand in one sheet (output.format: xlsx), expected at most ${format(MOST_SHEET_ROWS)}`,
    { hint: 'Nothing was sent. Write output.format: csv, or split the input into several files, one for each run.' },
  );
}

/** Times of the job and of its steps that have passed, or are too far ahead, as problems. Pure. */
export function listTimeFaults(
  { notAfter }: Pick<Job, 'notAfter'>,
  steps: readonly { readonly number: number; readonly step: Step }[],
  nowMs: number,
): Problem[] {
  const over = steps.length > 0 && notAfter !== undefined ? findPassed(notAfter, nowMs) : undefined;
  const ofSteps = steps.flatMap(({ number, step }): Problem[] => {
    const fault = isRowStep(step) ? kindOf(step).findTimeFault?.(step, nowMs) : undefined;
    if (fault === undefined) return [];
    const at = ['steps', number - 1, ...fault.key.split('.')];
    return [{ where: `step ${number} (${step.kind})`, at, message: fault.message }];
  });
  return over === undefined ? ofSteps : [over, ...ofSteps];
}

/** Refuses what would be planned too late, or too far ahead. `task` completes "Cannot …". */
export function assertTimes(
  job: Pick<Job, 'notAfter'>,
  steps: Parameters<typeof listTimeFaults>[1],
  { nowMs, task, hint }: { nowMs: number; task: string; hint: string },
): void {
  const problems = listTimeFaults(job, steps, nowMs);
  const [first] = problems;
  if (first === undefined) return;
  throw new UserError('bad-job', `Cannot ${task}: ${first.where}: ${first.message}`, {
    hint: `${hint}; nothing was sent.`,
    problems,
  });
}

function findPassed(notAfter: StatedTime, nowMs: number): Problem | undefined {
  if (millisecondsOf(notAfter) > nowMs) return undefined;
  const message = `notAfter, ${formatTime(notAfter)}, is in the past, expected a future time`;
  return { where: 'schedule', at: ['notAfter'], message };
}

/** Groups of rows that the window of their step never lets leave, or not before `notAfter`. */
export function listClosed(
  window: Window,
  asked: {
    groups: Readonly<Record<string, number>>;
    number: number;
    nowMs: number;
    notAfter: StatedTime | undefined;
    answerSeconds: number;
  },
): Problem[] {
  const { groups, number, nowMs, notAfter, answerSeconds } = asked;
  const hours = new OpeningHours(window);
  const about = { where: `step ${number}`, at: ['steps', number - 1, 'window'] };
  return Object.entries(groups).flatMap(([group, count]): Problem[] => {
    const rows = countOf(count, 'row');
    const openMs = hours.findNextOpening(zonesOf(window, group), nowMs, answerSeconds * 1000);
    if (openMs === undefined) {
      const message = `${group} leaves no hour: ${window.from} to ${window.to} is never in all of its time zones for the ${answerSeconds} s that an answer may take (${rows})`;
      const hint = 'Widen the window, or name the zone of each row: timeZone: { column: NAME }.';
      return [{ ...about, message, hint }];
    }
    if (notAfter === undefined || openMs < millisecondsOf(notAfter)) return [];
    const opens = formatTime({ at: new Date(openMs).toISOString() });
    const message = `${group} opens next on ${opens}, expected before notAfter, ${formatTime(notAfter)} (${rows})`;
    return [{ ...about, message, hint: 'Widen the window, or set a later notAfter.' }];
  });
}

/** Where a plan that leaves at once comes by night, from 22 to 8, with the local time; undefined where nowhere. */
export function findNight({ job, steps }: Pick<Plan, 'job' | 'steps'>, nowMs: number): string | undefined {
  const isLater = job.steps.some((step) => step.kind === 'sms' && (step.window ?? step.template.scheduled));
  if (isLater) return undefined;
  const found = steps
    .flatMap(({ countries }) => Object.keys(countries))
    .flatMap((country) => {
      const clocks = [...new Set(listZones(country).map((zone) => readClock(nowMs, zone).slice(11)))];
      const nights = clocks.filter((clock) => clock >= '22:00' || clock < '08:00');
      const where = nights.length < clocks.length ? 'in parts of ' : 'in ';
      return nights.length === 0 ? [] : [`${nights.slice(0, 3).join(' or ')} ${where}${nameCountry(country)}`];
    });
  return found.length === 0 ? undefined : found.slice(0, 5).join(', ');
}

/** The price list of a job, and how its plan names it. */
export interface LoadedPrices {
  readonly settings: JobPrices;
  readonly list: PriceList;
  readonly planned: PlannedPrices;
}

/** Reads the price list of a job to its end; gathers all its faults, and gives undefined where there are any, or no list. */
export async function loadPrices(
  { prices: settings, directory }: Pick<Job, 'prices' | 'directory'>,
  {
    deps: { reader },
    problems,
  }: { deps: { reader: Pick<InputReader, 'listInputs' | 'readRecords'> }; problems: ProblemList },
): Promise<LoadedPrices | undefined> {
  if (settings === undefined) return undefined;
  return await problems.gather('prices.file', async () => {
    const [file, other] = await reader.listInputs(settings.input.files, directory);
    if (file === undefined || other !== undefined) {
      throw new UserError('bad-input', 'the pattern matches several files, expected one price list');
    }
    const records = reader.readRecords({ ...file, key: 'prices' }, settings.input);
    const rows = await readRows(records, file.shown);
    const { shown, path } = file;
    const { currency } = settings;
    const planned = { file: shown, path, sha256: records.sha256, currency, rows: rows.length };
    return { settings, list: new PriceList(rows), planned };
  });
}

async function readRows(records: RecordReader, shown: string): Promise<readonly PriceRow[]> {
  await records.open();
  const isCommaDecimal = records.delimiter === ';';
  const parser = new PriceListParser(records.columns, { shown, isCommaDecimal });
  if (parser.hasColumns) {
    for await (const batch of readBatches(records)) {
      for (const { cells, line, fault } of batch) {
        if (fault === undefined) parser.add(cells, line);
        else parser.refuse(line, fault.reason);
      }
    }
  } else await records.close();
  const { problems, rows } = parser;
  if (problems.length === 0 && rows.length > 0) return rows;
  const empty = { where: shown, message: 'the price list has no rows, expected a price for each country' };
  throw new UserError('bad-input', 'the price list is faulty', { problems: problems.length > 0 ? problems : [empty] });
}

/** Counts what a step costs; undefined where its rows cost nothing. Contacts cost something where the list has prices of contacts. */
export function createCostTally(step: RowStep, list: PriceList): CostTally | undefined {
  const { pricedAs } = kindOf(step);
  if (pricedAs === undefined || (pricedAs === 'contact' && !list.hasContactPrices)) return undefined;
  return new CostTally(list, pricedAs);
}

/** Adds a problem where rows of a step have no price, unless the job lets them count as costing nothing. */
export function refuseMissing(
  costs: CostTally,
  { number, kind }: { readonly number: number; readonly kind: string },
  { prices, problems }: { readonly prices?: LoadedPrices | undefined; readonly problems: ProblemList },
): void {
  const missing = Object.entries(costs.withoutPrice);
  if (prices === undefined || prices.settings.onMissing === 'zero' || missing.length === 0) return;
  const listed = missing.map(
    ([country, rows]) => `${nameMissing(country)} (${countOf(rows, kind === 'contacts' ? 'contact' : 'message')})`,
  );
  problems.add({
    where: prices.planned.file,
    message: `no price for ${listed.join(', ')}, expected one for each country that step ${number} (${kind}) goes to`,
    hint: 'Add them to the list, or write `onMissing: zero` in `prices`: they then count as without a price.',
  });
}

/** `ZZ` has numbers that belong to no country. */
function nameMissing(country: string): string {
  if (country === '') return 'rows without a number';
  return country === 'ZZ' ? 'ZZ, numbers of no country' : country;
}
