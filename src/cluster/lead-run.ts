import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { isRowStep, type Step } from '../job/job.js';
import type { RequestKey } from '../journal/entry-format.js';
import type { RunState } from '../journal/replay.js';
import type { Clock } from '../ports/clock.js';
import type { Journal } from '../run/run-deps.js';
import type { LeadKey, LedPart, LedRun, NewLead, Store } from './store.js';

/** The run was not sent by its own process, but by workers of a database that knows no such thing, or less. */
function explainLost(run: string, what: string): UserError {
  return new UserError('registry-mismatch', `Cannot resume run ${run}: ${what}`, {
    hint:
      'The database was put back from a backup, a standby that lacked its last commits took over, or the run was resumed without it ' +
      'meanwhile: messages may have been sent ' +
      `that it does not know. Look; then \`volley cluster drop ${run}\`, and the same command continues: what may have been sent is in doubt.`,
  });
}

export function refuseLost(run: string): UserError {
  return explainLost(run, 'the database has lost attempts to send, or the worker that could say so is gone');
}

export function refuseOtherLead(run: string): UserError {
  const what = 'the database knows another leader of it, or none';
  return new UserError('registry-mismatch', `Cannot lead run ${run}: ${what}`, {
    hint:
      'The same plan is sent from another directory; or the run was dropped, and the database may have been put back from a backup. ' +
      `Look at \`volley cluster status\` and at what happened. If the run is there and nothing leads it: \`volley cluster drop ${run}\`. ` +
      'Then the same command continues: what may have been sent is in doubt.',
  });
}

/**
 * Joins what the journal and the database know of a run that a leader left. Every part that was handed over has an intent in the
 * journal before it is in the database, so a part that the database lacks was never sent: it is sent again. Returns false where
 * the database does not know the run at all: then what was under way is as after any crash. Where `stop` aborts while it waits
 * for workers, all stays as it was.
 */
export async function takeOver(
  key: LeadKey,
  {
    store,
    state,
    journal,
    clock,
    steps,
    stop,
    led: { born, isNew, isNewLife, parts },
  }: {
    store: Pick<Store, 'confirmLife'>;
    led: LedRun;
    state: RunState;
    journal: Journal;
    clock: Clock;
    steps: readonly Step[];
    stop: AbortSignal;
  },
): Promise<boolean> {
  if (isNew) return false;
  assertJournalWhole(key.run, state, parts);
  const known = new Map(parts.map((part) => [nameOf(part), part]));
  const open = steps.flatMap((step, index) => (isRowStep(step) ? [...state.step(index + 1).open.values()] : []));
  const missing = open.filter((part) => part.isInFlight && !known.has(nameOf(part)));
  // Before the life is confirmed: the next process must find so too.
  const given = isNewLife ? missing : missing.filter(({ lead }) => lead !== born);
  if (given.length > 0) {
    const what = isNewLife ? 'that it had been given' : `that ${given.length === 1 ? 'was' : 'were'} not given to it`;
    throw explainLost(key.run, `the database lacks ${countOf(given.length, 'request')} ${what}`);
  }
  for (;;) {
    const life = await store.confirmLife(key);
    if (life === 'lost') throw refuseLost(key.run);
    if (life === 'same') break;
    await clock.sleep(500, stop);
    if (stop.aborted) return true;
  }
  assertNotOlder(key.run, state, parts);
  for (const part of missing) {
    const result = { kind: 'again', why: 'the run ended before a worker had it' } as const;
    await journal.append({ type: 'outcome', ...toRequestKey(part), at: clock.now(), result });
  }
  // The last leader died while it wrote: its intent is missing, or that of a half.
  for (const part of open.filter((one) => !one.isInFlight && known.has(nameOf(one)))) {
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
  { store, newLead, handed }: { store: Store; newLead: NewLead; handed: ReadonlyMap<string, RequestKey> },
): Promise<void> {
  const { isNew, parts } = await store.lead(key, newLead);
  const known = new Set(parts.map(nameOf));
  const missing = [...handed.values()].filter((part) => !known.has(nameOf(part)));
  const strange = parts.filter((part) => part.state !== 'done' && !isPartOf(part, (name) => handed.has(name)));
  if (isNew || missing.length + strange.length > 0) {
    const what = `${countOf(missing.length, 'request')} that it had been given, or has ${strange.length} that are done`;
    throw explainLost(key.run, `the database lacks ${what}`);
  }
}

/** A part that the journal knows as settled, or not at all, must not be open; of a part that it knows, halves may be. */
function assertNotOlder(run: string, state: RunState, parts: readonly LedPart[]): void {
  const older = parts.filter((part) => {
    if (part.state === 'done') return false;
    const { open } = state.step(part.step);
    return !isPartOf(part, (name) => open.has(name));
  });
  if (older.length === 0) return;
  throw explainLost(run, `the database has ${countOf(older.length, 'request')} to send that the journal knows as done`);
}

/** Before a request is in the database its intent is in the journal, and an outcome that was taken. */
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

/** Whether a part, or one that it is a half of, is one of those. */
function isPartOf({ request, part }: RequestKey, isOne: (name: string) => boolean): boolean {
  const lengths = Array.from({ length: part.length + 1 }, (_, length) => length);
  return lengths.some((length) => isOne(`${request}/${part.slice(0, length)}`));
}

export function toRequestKey({ step, request, part }: RequestKey): RequestKey {
  return { step, request, part };
}

function nameOf({ step, request, part }: RequestKey): string {
  return `${step}/${request}/${part}`;
}
