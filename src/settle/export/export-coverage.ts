import { countOf } from '../../domain/count-of.js';
import type { SentTime } from '../../journal/row-status/sent-times.js';
import type { ExportRow } from './export-row.js';

/** Largest accepted difference between request and creation; less than a time zone. */
export const SKEW_MS = 10 * 60_000;
/** More than the clocks can differ then. */
export const EARLY_MS = 30 * 60_000;
/** Also, a request whose sender died may still be on its way: systems repeat unacknowledged ones for half an hour. */
export const LATE_MS = 60 * 60_000;
/** The files of one export are contiguous. With a larger gap, one of them may be missing. */
export const PAUSE_MS = 60_000;
/** Earlier, a time is a default such as 0001-01-01 or 1970-01-01. */
const EARLIEST_MS = Date.UTC(2000, 0, 1);
const LEAST_NUMBERS = 2;

/** Coverage of the subaccount in one file of an export. */
interface FileSpan {
  firstMs: number;
  lastMs: number;
  readonly countries: Set<string>;
  /** Numbers as written, where they differ; two at most. */
  readonly written: Set<string>;
  /** Endings of the numbers of known messages, which differ also where the export hides them. */
  readonly endings: Set<number>;
}

/** Coverage of the subaccount in an export, message by message, file by file. */
export class ExportSpan {
  readonly files: FileSpan[] = [];
  /** Machines whose clocks a known message shows to be right. */
  readonly hosts = new Set<string>();
  /** Of the first known message that was created at another time than it was sent. */
  misfit: string | undefined;
  readonly #latestMs: number;

  /** A message cannot have been created after `nowMs`, when the export is read: such a time proves nothing. */
  constructor(nowMs: number) {
    this.#latestMs = nowMs + SKEW_MS;
  }

  /** Begins the next file. */
  beginFile(): void {
    const unknown = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
    this.files.push({ ...unknown, countries: new Set(), written: new Set(), endings: new Set() });
  }

  add({ createdMs, country, msisdn }: ExportRow): void {
    const file = this.files.at(-1);
    if (file === undefined || createdMs === undefined) return;
    if (createdMs < EARLIEST_MS || createdMs > this.#latestMs) return;
    file.firstMs = Math.min(file.firstMs, createdMs);
    file.lastMs = Math.max(file.lastMs, createdMs);
    if (country !== '') file.countries.add(country);
    if (file.written.size < LEAST_NUMBERS) file.written.add(msisdn);
  }

  /** A message that the service is known to have accepted, to a number with this ending. */
  addKnown({ createdMs = Number.NaN }: ExportRow, { fromMs, toMs, hosts }: SentTime, ending: number): void {
    this.files.at(-1)?.endings.add(ending);
    const [host = ''] = hosts;
    if (createdMs >= fromMs - SKEW_MS && createdMs <= toMs + SKEW_MS) {
      // A long request, or two machines, says little about a clock.
      if (toMs - fromMs <= SKEW_MS && hosts.length === 1) this.hosts.add(host);
      return;
    }
    this.misfit ??= `a message that was sent at ${show(fromMs)} was created at ${show(createdMs)}`;
  }
}

/**
 * Why the absence of a message from an export does not prove that it was not sent; undefined: it does. The files state
 * neither their period nor filters (country, number) nor limits, so their content must show:
 *
 *   whole     it holds every message of the run that the service is known to have accepted, and those are to two numbers at least
 *   clock     those were created while their requests were under way; some of them on each machine that recorded the
 *   request
 *   from, to  it holds messages of the subaccount from before the request was begun, and from long after its outcome
 *   pause     between those its files are contiguous
 *   country   each of them holds a message to the country of the number
 *   number    each of them, where they are several, holds messages to two numbers
 */
export function findGap(
  { files, hosts, misfit }: ExportSpan,
  doubt: { time: SentTime; country: string | undefined; missing: number; numbers: number },
): string | undefined {
  const { time, country, missing, numbers } = doubt;
  if (missing > 0) {
    return `the export lacks ${countOf(missing, 'message')} of this run that the service accepted: it was filtered, limited or cut off, or is of other days`;
  }
  if (numbers < LEAST_NUMBERS) {
    return 'nothing shows that the export is whole: this run has no accepted messages to two numbers to compare it with';
  }
  if (misfit !== undefined) return `the times of the export do not match those of the run: ${misfit}`;
  if (!time.hosts.every((host) => hosts.has(host))) {
    return 'no accepted message shows that the clock of the machine that sent it was right';
  }
  return findGapInTime(files, time) ?? findFilter(files, time, country);
}

function findGapInTime(files: readonly FileSpan[], { fromMs, toMs }: SentTime): string | undefined {
  const beforeMs = fromMs - EARLY_MS;
  if (!files.some(({ firstMs }) => firstMs <= beforeMs)) {
    return `the export has no message of this subaccount from before ${show(beforeMs)}: ask for one that begins earlier`;
  }
  const afterMs = toMs + LATE_MS;
  if (!files.some(({ lastMs }) => lastMs >= afterMs)) {
    return `the export has no message of this subaccount from after ${show(afterMs)}: send one then, and export again`;
  }
  let untilMs = Number.NEGATIVE_INFINITY;
  const dated = files.filter(({ lastMs }) => lastMs >= EARLIEST_MS);
  for (const { firstMs, lastMs } of dated.sort((one, other) => one.firstMs - other.firstMs)) {
    if (firstMs - untilMs > PAUSE_MS && untilMs < afterMs && firstMs > beforeMs) {
      return `none of the files covers the time from ${show(untilMs)} to ${show(firstMs)}: give all files of one export`;
    }
    untilMs = Math.max(untilMs, lastMs);
  }
  return undefined;
}

/** Why a file that may hold the message may lack it: each may be of an export of its own, filtered in its own way. */
function findFilter(
  files: readonly FileSpan[],
  { fromMs, toMs }: SentTime,
  country: string | undefined,
): string | undefined {
  const near = files.filter(({ firstMs, lastMs }) => firstMs <= toMs + LATE_MS && lastMs >= fromMs - EARLY_MS);
  const which = files.length > 1 ? 'a file of the export' : 'the export';
  if (country === undefined || !near.every(({ countries }) => countries.has(country))) {
    return `${which} has no message to ${country ?? 'its country'}: it may have been filtered by country`;
  }
  const isToOne = ({ written, endings }: FileSpan) => Math.max(written.size, endings.size) < LEAST_NUMBERS;
  if (files.length > 1 && near.some(isToOne)) {
    return `${which} has no messages to two numbers: it may have been filtered by number`;
  }
  return undefined;
}

function show(atMs: number): string {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z') : 'an unknown time';
}
