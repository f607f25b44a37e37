import type { RememberedAttempt } from '../../../src/cluster/store.js';
import type { PartResult } from '../../../src/journal/entry-format.js';
import { sameVerdictForAll } from '../../../src/kinds/outcomes.js';
import { RUN_ENDED } from '../../../src/registry/append-to-run.js';
import { type Attempt, attemptName, type MemoryState, type Part, partName, type Run } from './memory-state.js';
import { endAttempt } from './worker-calls.js';

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
  attempt.version += 1;
  part.state = onLost === 'again' ? 'open' : 'done';
}

/** True where the attempt was lost; also to a repeated call. */
export function putBack(
  memory: MemoryState,
  worker: string,
  { run: id, born, begin, end }: RememberedAttempt,
): boolean {
  const run = memory.runs.get(id);
  if (born !== undefined && run?.born !== born) return false;
  if (run === undefined) return false;
  const known = run.attempts.get(attemptName(begin));
  const isWhole = known?.nonce === begin.nonce && (end === undefined || known.result !== undefined);
  if (known !== undefined && isWhole) return known.putBack === memory.life;
  run.lost = true;
  if (known === undefined) {
    run.attempts.set(attemptName(begin), {
      ...begin,
      ...{ result: undefined, at: memory.clock.now(), byRecovery: false, isLate: false, untaken: false, version: 0 },
    });
    const part = run.parts.get(partName(begin));
    if (part !== undefined) Object.assign(part, { state: 'under-way', owner: worker, attempt: begin.attempt });
  }
  const putBack = run.attempts.get(attemptName(begin));
  if (putBack?.nonce === begin.nonce) putBack.putBack = memory.life;
  if (end !== undefined) endAttempt(memory, run, { worker, run: id, step: begin.step }, end);
  return true;
}

/** As an asynchronous standby does that takes over without the last commits. */
export function forgetAttempt(run: Run, attempt: Attempt): void {
  run.attempts.delete(attemptName(attempt));
  const part = run.parts.get(partName(attempt));
  if (part === undefined) return;
  part.attempt = attempt.attempt - 1;
  part.state = part.owner === undefined ? 'open' : 'claimed';
  if (attempt.result?.kind !== 'split') return;
  for (const half of ['0', '1']) run.parts.delete(partName({ ...attempt, part: `${attempt.part}${half}` }));
}
