import { UserError } from '../../src/domain/errors.js';
import type { RunOptions } from './a-run.js';

export const LOST = new UserError('lock-held', 'the lock is lost');

/** A lock that is lost while a call waits at the gate, after `passes` of them were let through: only asking for it tells. */
export function lostAtGate(passes = 0): Pick<RunOptions, 'lock' | 'onGate'> {
  let passed = 0;
  let isLost = false;
  return {
    onGate: async () => {
      isLost = passed++ >= passes;
    },
    lock: {
      assertHeld: async () => {
        if (isLost) throw LOST;
      },
    },
  };
}
