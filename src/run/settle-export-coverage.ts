import type { SentTime } from './sent-record.js';
import type { ExportRow } from './settle-export-row.js';

/** How far from its request a message may have been created; less than two clocks differ that show different time zones. */
export const SKEW_MS = 10 * 60_000;
/** More than the clocks can differ then. */
export const EARLY_MS = 30 * 60_000;
/** As well; and a request whose sender died may still be on its way: systems repeat what was not acknowledged for half an hour. */
export const LATE_MS = 60 * 60_000;
const LEAST_NUMBERS = 2;

/** What an export holds of the subaccount, message by message. */
export class ExportSpan {
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  readonly countries = new Set<string>();
  /** Machines whose clocks a known message shows to be right. */
  readonly hosts = new Set<string>();
  /** Of the first known message that was created at another time than it was sent. */
  misfit: string | undefined;

  add({ createdMs, country }: ExportRow): void {
    if (createdMs === undefined) return;
    this.firstMs = Math.min(this.firstMs, createdMs);
    this.lastMs = Math.max(this.lastMs, createdMs);
    if (country !== '') this.countries.add(country);
  }

  /** A message that the service is known to have accepted. */
  addKnown({ createdMs = Number.NaN }: ExportRow, { fromMs, toMs, hosts }: SentTime): void {
    const [host = ''] = hosts;
    if (createdMs >= fromMs - SKEW_MS && createdMs <= toMs + SKEW_MS) {
      // A request that took long, or two machines, tells little of a clock.
      if (toMs - fromMs <= SKEW_MS && hosts.length === 1) this.hosts.add(host);
      return;
    }
    this.misfit ??= `a message that was sent at ${show(fromMs)} was created at ${show(createdMs)}`;
  }
}

/**
 * Why an export cannot tell that a message was not sent by not holding it; undefined: it can. Nothing in the file says from
 * when to when it is, nor whether it was filtered (by country, by number) or limited, so it must show that itself:
 *
 *   whole     it holds every message of the run that the service is known to have accepted, and those are to two numbers at least
 *   clock     those were created when their requests were under way; some of them of each machine that noted the request
 *   country   it holds a message to the country of the number
 *   from, to  it holds messages of the subaccount from before the request was begun, and from long after its outcome
 */
export function findGap(
  { firstMs, lastMs, countries, hosts, misfit }: ExportSpan,
  doubt: { time: SentTime; country: string | undefined; missing: number; numbers: number },
): string | undefined {
  const { time, country, missing, numbers } = doubt;
  if (missing > 0) {
    return `the export lacks ${missing} messages of this run that the service accepted: it was filtered, limited or cut off, or is of other days`;
  }
  if (numbers < LEAST_NUMBERS) {
    return 'nothing shows that the export is whole: this run has no accepted messages to two numbers to hold it against';
  }
  if (misfit !== undefined) return `the times of the export are not ours: ${misfit}`;
  if (!time.hosts.every((host) => hosts.has(host))) {
    return 'no accepted message shows that the clock of the machine that sent it was right';
  }
  if (country === undefined || !countries.has(country)) {
    return `the export has no message to ${country ?? 'its country'}: it may have been filtered by country`;
  }
  const beforeMs = time.fromMs - EARLY_MS;
  if (!(firstMs <= beforeMs)) {
    return `the export has no message of this subaccount from before ${show(beforeMs)}: ask for one that begins earlier`;
  }
  const afterMs = time.toMs + LATE_MS;
  if (lastMs >= afterMs) return undefined;
  return `the export has no message of this subaccount from after ${show(afterMs)}: send one then, and export again`;
}

function show(atMs: number): string {
  return Number.isFinite(atMs) ? new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z') : 'an unknown time';
}
