import {
  type AttemptKey,
  type HandedPart,
  type LeadKey,
  LeadLost,
  type NewLead,
  type OpenStep,
  type Store,
  type WithdrawnPart,
} from '../../../src/cluster/store.js';
import { attemptName, type MemoryState, type Part, partName, REMEMBERED_MS, type Run } from './memory-state.js';

/** False while workers send some of the run; nothing of it begins from then on. */
export function drop(memory: MemoryState, id: string): boolean {
  const run = memory.runs.get(id);
  if (run === undefined) return true;
  run.isOpen = false;
  if ([...run.parts.values()].some(({ state, owner }) => state === 'under-way' && memory.isAlive(owner))) return false;
  return memory.runs.delete(id);
}

export function lead(memory: MemoryState, { run: id, epoch }: LeadKey, { leader, job, digest }: NewLead) {
  const known = memory.runs.get(id);
  const isOther = known?.epoch === epoch && known.leader !== leader;
  if (known !== undefined && (known.epoch > epoch || isOther)) throw new LeadLost(`another process leads run ${id}`);
  // One of which no step was ever opened is as good as new.
  const isNew = known?.step === undefined;
  const run: Run = known ?? {
    born: `birth ${++memory.births}`,
    promotedAt: memory.promotedAt,
    epoch,
    leader,
    job,
    digest,
    step: undefined,
    isOpen: false,
    leaseMs: 0,
    leaseUntil: Number.NEGATIVE_INFINITY,
    life: memory.life,
    lost: false,
    stop: undefined,
    parts: new Map(),
    attempts: new Map(),
    withdrawn: [],
  };
  for (const part of epoch > run.epoch ? run.withdrawn : []) run.parts.set(partName(part), part);
  if (epoch > run.epoch) run.withdrawn = [];
  Object.assign(run, { epoch, leader, job, digest, isOpen: false, stop: undefined });
  memory.runs.set(id, run);
  return {
    born: run.born,
    isNew,
    isNewLife: run.life !== memory.life,
    parts: [...run.parts.values()].map(({ step, request, part, state, attempt }) => {
      const isTaken =
        state === 'done' && run.attempts.get(attemptName({ step, request, part, attempt }))?.untaken !== true;
      return { step, request, part, state, isTaken };
    }),
  };
}

export function openStep(memory: MemoryState, key: LeadKey, step: OpenStep): void {
  Object.assign(memory.led(key), { step, isOpen: true, withdrawn: [] });
}

export function handOver(memory: MemoryState, key: LeadKey, parts: readonly HandedPart[]): void {
  const run = memory.led(key);
  for (const { isInFlight, ...part } of parts) {
    if (run.parts.has(partName(part))) continue;
    const before = [...run.attempts.values()].filter((one) => partName(one) === partName(part));
    const attempt = Math.max(0, ...before.map((one) => one.attempt));
    run.parts.set(partName(part), { ...part, state: 'open', owner: undefined, attempt, isInFlight });
    if (isInFlight) noteSentBefore(memory, run, { ...part, attempt: attempt + 1 });
  }
}

function noteSentBefore(memory: MemoryState, run: Run, { step, request, part, attempt }: AttemptKey): void {
  Object.assign(run.parts.get(partName({ step, request, part })) ?? {}, { attempt });
  run.attempts.set(attemptName({ step, request, part, attempt }), {
    ...{ step, request, part, attempt, nonce: 'handed-over', result: undefined, at: memory.clock.now() },
    ...{ byRecovery: false, untaken: false },
  });
}

export function readNews(
  memory: MemoryState,
  key: LeadKey,
  { limit, leaseMs, seenAtMs, taken = [] }: Parameters<Store['readNews']>[1],
) {
  const run = memory.led(key);
  for (const one of taken) {
    const attempt = run.attempts.get(attemptName(one));
    if (attempt !== undefined) attempt.untaken = false;
  }
  const isOfAnotherClock = run.leaseUntil > memory.clock.now() + leaseMs;
  const leaseEnd = Math.min(seenAtMs, memory.clock.now()) + leaseMs;
  run.leaseMs = leaseMs;
  run.leaseUntil = isOfAnotherClock ? leaseEnd : Math.max(run.leaseUntil, leaseEnd);
  const untaken = [...run.attempts.values()].filter((attempt) => attempt.untaken).slice(0, limit);
  const ended = untaken.flatMap(({ step, request, part, attempt, result, at }) => {
    const rows = run.parts.get(partName({ step, request, part }))?.rows;
    if (rows === undefined || result === undefined) return [];
    return [{ step, request, part, attempt, rows, result, at }];
  });
  const states = [...run.parts.values()].map(({ state }) => state);
  const count = (wanted: Part['state']) => states.filter((state) => state === wanted).length;
  return {
    ended,
    openStep: run.isOpen ? run.step?.step : undefined,
    open: count('open'),
    claimed: count('claimed'),
    underWay: count('under-way'),
    workers: [...memory.workers.values()].filter(({ leaseUntil }) => leaseUntil > memory.clock.now()).length,
    stop: run.stop,
    life: memory.life,
    isConfirmed: run.life === memory.life && !run.lost,
    atMs: memory.clock.now(),
    isSynchronous: false,
  };
}

export function withdraw(memory: MemoryState, key: LeadKey): readonly WithdrawnPart[] {
  const run = memory.led(key);
  run.isOpen = false;
  if (run.lost || run.life !== memory.life) return [];
  for (const [name, part] of run.parts) {
    if (part.state !== 'open' && part.state !== 'claimed') continue;
    run.parts.delete(name);
    run.withdrawn.push({ ...part, state: 'open', owner: undefined });
  }
  return run.withdrawn.map(({ step, request, part, isInFlight }) => ({ step, request, part, isInFlight }));
}

export function confirmLife(memory: MemoryState, key: LeadKey): 'same' | 'waiting' | 'lost' {
  const run = memory.led(key);
  if (run.lost) return 'lost';
  if (run.life === memory.life) return 'same';
  const late = [...memory.workers.values()].some(
    ({ life, leaseUntil }) => life !== memory.life && leaseUntil > memory.clock.now(),
  );
  if (late) return 'waiting';
  // One that was at work of late and does not come again can no longer say what it sent.
  const isUnknown = [...memory.workers.values()].some(
    ({ life, seenAt, goneAt = Number.POSITIVE_INFINITY }) =>
      life !== memory.life && seenAt > memory.promotedAt - REMEMBERED_MS && goneAt > memory.promotedAt,
  );
  if (memory.promotedAt !== run.promotedAt && isUnknown) {
    run.lost = true;
    return 'lost';
  }
  Object.assign(run, { life: memory.life, promotedAt: memory.promotedAt });
  return 'same';
}
