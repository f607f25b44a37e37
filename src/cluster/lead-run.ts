import { countOf, listSaid } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { isRowStep, type Step } from '../job/job.js';
import type { RequestKey } from '../journal/entry-format.js';
import type { RunState } from '../journal/replay.js';
import type { Clock } from '../ports/clock.js';
import type { Journal } from '../run/run-deps.js';
import { type LeadKey, type LedPart, type LedRun, type NewLead, nameOfPart, type Store } from './store.js';

/** The run was not sent by its own process, but by workers of a database that knows no such thing, or less. */
export function refuseRun(run: string, what: string): UserError {
  return new UserError('registry-mismatch', `Cannot lead run ${run}: ${what}`, {
    hint:
      'The database was put back from a backup, a standby that lacked its last commits took over, the run was dropped, or sent without ' +
      'the database or from another directory meanwhile: messages may have been sent that it does not know. ' +
      'Look at what happened, and at `volley cluster status`. If the run is there and no process leads it, give the same command once ' +
      `more, which looks anew. If that ends so too: \`volley cluster drop ${run}\`; then it continues, and what may have been sent is in doubt.`,
  });
}

export const LOST_ATTEMPTS = 'the database has lost attempts to send, or the worker that could say so is gone';

/**
 * Joins what the journal and the database know of a run that a leader left. Every part that was handed over has an intent in the
 * journal before it is in the database, so a part that the database lacks was never sent: it is sent again. Returns false where
 * the database does not know the run at all: then what was under way is as after any crash. Where `stop` aborts while it waits
 * for workers, all stays as it was.
 */
export async function takeOver(
  key: LeadKey,
  context: {
    readonly store: Pick<Store, 'confirmLife'>;
    readonly led: LedRun;
    readonly state: RunState;
    readonly journal: Journal;
    readonly clock: Clock;
    readonly steps: readonly Step[];
    readonly stop: AbortSignal;
  },
): Promise<boolean> {
  const { store, state, journal, clock, steps, stop } = context;
  const { born, isNew, isNewLife, parts } = context.led;
  if (isNew) return false;
  assertJournalWhole(key.run, state, parts);
  const open = steps.flatMap((step, index) => (isRowStep(step) ? [...state.step(index + 1).open.values()] : []));
  const isThere = isAmong(parts);
  const missing = open.filter((part) => part.isInFlight && !isThere(part));
  // Before the life is confirmed: the next process must find so too.
  assertSame(key.run, isNewLife ? missing : missing.filter(({ lead }) => lead !== born), listUnknown(parts, open));
  for (;;) {
    const life = await store.confirmLife(key);
    if (life === 'lost') throw refuseRun(key.run, LOST_ATTEMPTS);
    if (life === 'same') break;
    await clock.sleep(500, stop);
    if (stop.aborted) return true;
  }
  for (const part of missing) {
    const result = { kind: 'again', why: 'the run ended before a worker had it' } as const;
    await journal.append({ type: 'outcome', ...toRequestKey(part), at: clock.now(), result });
  }
  // It waits, and the database has it: the server has lost that it was taken back, or that was done without the database.
  for (const part of open.filter((one) => !one.isInFlight && isThere(one))) {
    await journal.append({ type: 'intent', ...toRequestKey(part), at: clock.now(), line: part.line, rows: part.rows });
  }
  return true;
}

/**
 * In a new life of the server, of a run that this process has led since before: all that was handed over and has no final
 * outcome must be there, and nothing else may be left to send. The step is to be opened again.
 */
export async function assertNothingLost(
  key: LeadKey,
  { store, newLead, handed }: { store: Store; newLead: NewLead; handed: readonly RequestKey[] },
): Promise<void> {
  const { isNew, parts } = await store.lead(key, newLead);
  if (isNew) throw refuseRun(key.run, 'the database does not know it any more');
  const isThere = isAmong(parts);
  assertSame(
    key.run,
    handed.filter((part) => !isThere(part)),
    listUnknown(parts, handed),
  );
}

function assertSame(run: string, missing: readonly RequestKey[], unknown: readonly RequestKey[]): void {
  if (missing.length + unknown.length === 0) return;
  const faults = listSaid(
    missing.length > 0 && `lacks ${countOf(missing.length, 'request')} that may have been sent`,
    unknown.length > 0 && `has ${countOf(unknown.length, 'request')} to send that the journal knows as done`,
  );
  throw refuseRun(run, `the database ${faults.join(', and ')}`);
}

function isAmong(parts: readonly RequestKey[]): (part: RequestKey) => boolean {
  const names = new Set(parts.map(nameOfPart));
  return (part) => names.has(nameOfPart(part));
}

/** What is to be sent, and is none of these: settled, or not known at all. Of a part that is known, halves may be there. */
function listUnknown(parts: readonly LedPart[], known: readonly RequestKey[]): readonly LedPart[] {
  const isThere = isAmong(known);
  const isKnown = ({ step, request, part }: RequestKey) =>
    Array.from({ length: part.length + 1 }, (_, length) => part.slice(0, length)).some((whole) =>
      isThere({ step, request, part: whole }),
    );
  return parts.filter((part) => part.state !== 'done' && !isKnown(part));
}

/** Refuses a journal that lacks the intent of a request in the database, or an outcome that was taken from it. */
function assertJournalWhole(run: string, state: RunState, parts: readonly LedPart[]): void {
  const unknown = parts.filter(({ step, request, part, isTaken }) => {
    const { nextRequest, begunAhead, open } = state.step(step);
    const isBegun = request < nextRequest || begunAhead.has(request);
    return !isBegun || (isTaken && open.has(`${request}/${part}`));
  });
  if (unknown.length === 0) return;
  const what = `its journal lacks what the database knows of ${countOf(unknown.length, 'request')}`;
  throw new UserError('registry-mismatch', `Cannot resume run ${run}: ${what}`, {
    hint:
      'This directory is older than the run: it was copied, or put back from a backup. Resume the run in the newest directory. ' +
      'Do not drop it from the database: what was sent since would be sent again.',
  });
}

export function toRequestKey({ step, request, part }: RequestKey): RequestKey {
  return { step, request, part };
}
