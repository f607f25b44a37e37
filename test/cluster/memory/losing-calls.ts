import type { SentCalls } from '../../../src/cluster/store.js';
import type { PartResult } from '../../../src/journal/entry-format.js';
import { sameVerdictForAll } from '../../../src/kinds/outcomes.js';
import { RUN_ENDED } from '../../../src/registry/append-to-run.js';
import { attemptName, type MemoryState, type Part, type Run } from './memory-state.js';

/** Ends what lost workers had; how many parts that were. */
export function recover(memory: MemoryState): number {
  let count = 0;
  for (const run of memory.runs.values()) {
    for (const part of run.parts.values()) {
      if (part.owner === undefined || memory.isAlive(part.owner)) continue;
      if (part.state === 'claimed') Object.assign(part, { state: 'open' });
      else if (part.state === 'under-way') endLost(memory, run, part);
      part.owner = undefined;
      count += 1;
    }
  }
  return count;
}

function endLost(memory: MemoryState, run: Run, part: Part): void {
  const attempt = run.attempts.get(attemptName(part));
  const onLost = run.step?.onLost ?? 'in-doubt';
  if (attempt === undefined || attempt.result !== undefined) return;
  if (onLost === 'query') {
    Object.assign(part, { state: 'open', isInFlight: true });
    return;
  }
  const result: PartResult =
    onLost === 'again'
      ? { kind: 'again', why: 'the run ended before the answer came' }
      : { kind: 'settled', outcomes: sameVerdictForAll(part.rows[1], RUN_ENDED) };
  Object.assign(attempt, { result, at: memory.clock.now(), byRecovery: true, untaken: true });
  part.state = onLost === 'again' ? 'open' : 'done';
}

export function checkIn(memory: MemoryState, itsLife: string, { calls, births }: SentCalls): void {
  const { workers, life, clock } = memory;
  if (itsLife !== life) return;
  const hasLost = calls.some(({ worker, call }) => (workers.get(worker)?.calls ?? 0) < call);
  for (const run of memory.runs.values()) run.lost ||= hasLost && births.includes(run.born);
  for (const { worker, call } of calls) {
    const now = clock.now();
    const known = workers.get(worker) ?? { leaseUntil: Number.NEGATIVE_INFINITY, calls: 0, seenAt: now, goneAt: now };
    workers.set(worker, { ...known, life, calls: Math.max(known.calls, call) });
  }
}
