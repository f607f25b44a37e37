import type { BeginEntry, EndEntry, Store, WorkerKey } from '../../../src/cluster/store.js';
import type { RequestKey } from '../../../src/journal/entry-format.js';
import { attemptName, type MemoryState, partName, type Run } from './memory-state.js';

export function beat(
  memory: MemoryState,
  worker: string,
  { leaseMs, life: itsLife = '' }: Parameters<Store['beat']>[1],
) {
  const now = memory.clock.now();
  const known = memory.workers.get(worker);
  if (known !== undefined && known.leaseUntil <= now) return { isAlive: false, life: memory.life };
  const { life, calls } = known ?? { life: itsLife, calls: 0 };
  memory.workers.set(worker, { life, calls, leaseUntil: now + leaseMs, seenAt: now });
  return { isAlive: true, life: memory.life };
}

export function findRun(memory: MemoryState, { run: only, job }: Parameters<Store['findRun']>[0]) {
  const hasOpenParts = ({ step, parts }: Run) =>
    [...parts.values()].some((part) => part.step === step?.step && part.state === 'open');
  const claimable = [...memory.runs].filter(
    ([id, run]) => memory.isClaimable(run) && id === (only ?? id) && run.job === (job ?? run.job),
  );
  const found = claimable.find(([, run]) => hasOpenParts(run)) ?? claimable[0];
  const [id = '', run] = found ?? [];
  if (run?.step === undefined) return undefined;
  const { step, provisionedIds } = run.step;
  return { run: id, born: run.born, epoch: run.epoch, digest: run.digest, step, provisionedIds };
}

export function claim(
  memory: MemoryState,
  { worker, run: id, step }: WorkerKey,
  { count, holding, epoch }: Parameters<Store['claim']>[1],
) {
  const run = memory.runs.get(id);
  const isLed = run !== undefined && run.epoch === (epoch ?? run.epoch);
  const isOpen = isLed && memory.isWorking(run, { worker, step });
  if (!isOpen) return { parts: [], isOpen: false };
  const held = new Set(holding.map(partName));
  const inOrder = [...run.parts.values()].filter((part) => part.step === step).sort(byPlan);
  const unknown = inOrder.filter(
    (part) => part.owner === worker && part.state === 'claimed' && !held.has(partName(part)),
  );
  const open = inOrder.filter(({ state }) => state === 'open').slice(0, Math.max(0, count - unknown.length));
  for (const part of open) Object.assign(part, { state: 'claimed', owner: worker });
  const parts = [...unknown, ...open].map((part) => {
    const { step: of, request, part: path, rows, head, body, attempt, isInFlight } = part;
    const nonce = isInFlight ? run.attempts.get(attemptName({ ...part, attempt }))?.nonce : undefined;
    return { step: of, request, part: path, rows, head, body: Buffer.from(body), attempt, isInFlight, nonce };
  });
  return { parts, isOpen };
}

/** False: refused. */
export function append(memory: MemoryState, key: WorkerKey, entry: BeginEntry | EndEntry): boolean {
  const run = memory.runs.get(key.run);
  if (run === undefined) return entry.type === 'end';
  return entry.type === 'begin' ? beginAttempt(memory, run, key, entry) : endAttempt(memory, run, key, entry);
}

function beginAttempt(memory: MemoryState, run: Run, { worker, step }: WorkerKey, entry: BeginEntry): boolean {
  const { request, part: path, attempt, nonce } = entry;
  const known = run.attempts.get(attemptName(entry));
  const part = run.parts.get(partName(entry));
  const isHeld = part?.owner === worker && memory.isAlive(worker);
  if (known !== undefined) return isHeld && known.nonce === nonce && known.result === undefined;
  const isMine = isHeld && part.state === 'claimed' && part.attempt === attempt - 1 && !part.isInFlight;
  if (!isMine || !memory.isWorking(run, { worker, step })) return false;
  Object.assign(part, { state: 'under-way', attempt, isInFlight: false });
  for (const before of run.attempts.values()) if (partName(before) === partName(part)) before.untaken = false;
  run.attempts.set(attemptName(entry), {
    ...{ step: entry.step, request, part: path, attempt, nonce, result: undefined },
    ...{ at: memory.clock.now(), byRecovery: false, untaken: false },
  });
  return true;
}

export function endAttempt(memory: MemoryState, run: Run, { worker }: WorkerKey, entry: EndEntry): boolean {
  const attempt = run.attempts.get(attemptName(entry));
  if (attempt === undefined || attempt.nonce !== entry.nonce) return true;
  const part = run.parts.get(partName(entry));
  const { result } = entry;
  if (attempt.result !== undefined) return true;
  Object.assign(attempt, { result, at: memory.clock.now(), untaken: true });
  if (part === undefined) return true;
  // Its worker was lost, and the service may be asked: the answer has come first.
  const isHeld = part.owner === worker && memory.isAlive(worker);
  if (result.kind === 'again') Object.assign(part, { state: isHeld ? 'claimed' : 'open', isInFlight: false });
  else Object.assign(part, { state: 'done', isInFlight: false });
  if (part.state !== 'claimed') part.owner = undefined;
  for (const { part: path, rows } of entry.halves) {
    const half = { ...part, part: path, rows, attempt: 0, isInFlight: false };
    run.parts.set(partName(half), {
      ...half,
      state: isHeld ? 'claimed' : 'open',
      owner: isHeld ? worker : undefined,
    });
  }
  return true;
}

export function leave(memory: MemoryState, worker: string): void {
  const known = memory.workers.get(worker);
  if (known !== undefined) Object.assign(known, { leaseUntil: Number.NEGATIVE_INFINITY, goneAt: memory.clock.now() });
  for (const run of memory.runs.values()) {
    for (const part of run.parts.values()) {
      if (part.owner === worker && part.state === 'claimed') Object.assign(part, { state: 'open', owner: undefined });
    }
  }
}

function byPlan(one: RequestKey, other: RequestKey): number {
  return one.request - other.request || (one.part < other.part ? -1 : 1);
}
