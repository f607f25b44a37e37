import type { Balance } from '../domain.js';
import type { Job } from '../job/job.js';
import type { CloseReason } from '../journal/format.js';

/** The process's exit codes; the README carries this table. */
export const EXIT = {
  /** Every row accepted, or what is not does not count (`failOn`). */
  ok: 0,
  rejected: 1,
  notStarted: 2,
  inDoubt: 3,
  /** A guard, or an answer that a person must look at. */
  stopped: 4,
  /** Run the same command to go on (sysexits.h: EX_TEMPFAIL). */
  again: 75,
} as const;

/** `reason` is undefined for a run whose process died. */
export function exitCodeOf(reason: CloseReason | undefined, balance: Balance, failOn: Job['failOn']): number {
  switch (reason) {
    case 'guard':
    case 'unauthorized':
    case 'redirected':
      return EXIT.stopped;
    case 'interrupted':
    case 'unavailable':
    case undefined:
      return EXIT.again;
    case 'finished':
      if (balance.inDoubt > 0 && failOn !== 'nothing') return EXIT.inDoubt;
      if (balance.rejected > 0 && failOn === 'rejections') return EXIT.rejected;
      return EXIT.ok;
  }
}
