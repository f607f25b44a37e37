import type { Balance, Verdict } from '../domain/row.js';
import type { Job } from '../job/job.js';
import type { CloseReason } from '../journal/entry-format.js';

/** The process's exit codes; the README carries this table. */
export const EXIT = {
  /** Every row accepted, or the others do not count (`failOn`). */
  ok: 0,
  rejected: 1,
  notStarted: 2,
  inDoubt: 3,
  /** A guard, or an answer that a person must look at. */
  stopped: 4,
  /** Run the same command to resume (sysexits.h: EX_TEMPFAIL). */
  again: 75,
} as const;

export interface RunEnd {
  /** Why it ended; undefined for a run whose process died. */
  readonly reason: CloseReason | undefined;
  readonly balance: Balance;
  /** Unprocessed rows whose recipients opted out: as with rows that the plan skips, nothing is left to do. Absent: none. */
  readonly optedOut?: number;
  /** Unprocessed rows that were not sent by `notAfter`. Absent: none. */
  readonly tooLate?: number;
  /** Rows that were held as their number had their text already, or as no time zone is known: a person decides. Absent: none. */
  readonly held?: number;
  /** What became of steps without rows; each counts as a row does. */
  readonly actions: readonly (Verdict | undefined)[];
}

export function exitCodeOf(
  { reason, balance, optedOut = 0, tooLate = 0, held = 0, actions }: RunEnd,
  failOn: Job['failOn'],
): number {
  const isAny = (status: Verdict['status']) => actions.some((verdict) => verdict?.status === status);
  switch (reason) {
    case 'refused':
    case 'request-refused':
    case 'guard':
    case 'held':
    case 'unauthorized':
    case 'redirected':
      return EXIT.stopped;
    case 'interrupted':
    case 'unavailable':
    case 'closed':
    case undefined:
      return EXIT.again;
    case 'sampled':
    case 'finished':
    case 'abandoned': {
      if (tooLate > 0) return EXIT.stopped;
      if ((balance.inDoubt > 0 || isAny('in-doubt')) && failOn !== 'nothing') return EXIT.inDoubt;
      // Unprocessed rows behind a sample wait for a person. Others count: they were settled as not sent, or their run was abandoned.
      const unsent = reason === 'sampled' ? 0 : balance.unprocessed - optedOut;
      const isLess = balance.rejected + unsent + held > 0 || isAny('rejected');
      return failOn === 'rejections' && isLess ? EXIT.rejected : EXIT.ok;
    }
  }
}

const WORST_FIRST = [EXIT.stopped, EXIT.again, EXIT.inDoubt, EXIT.rejected];

/** The exit code of a command from those of its parts. */
export function worstExitCode(codes: readonly number[]): number {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.ok;
}
