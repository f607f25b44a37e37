import { memfs } from 'memfs';
import {
  type CloseEntry,
  encodeLine,
  type IntentEntry,
  JOURNAL_VERSION,
  type JournalEntry,
  type OpenEntry,
  type OutcomeEntry,
  type PartResult,
} from '../../src/journal/entry-format.js';
import { type PlacedLine, readJournal } from '../../src/journal/reader.js';
import { createFiles, type Files, type RawFiles } from '../../src/storage/files.js';

export const JOURNAL_PATH = '/run/journal.ndjson';

export function anOpen(fields: Partial<OpenEntry> = {}): OpenEntry {
  return { type: 'open', version: JOURNAL_VERSION, plan: 'p1', at: 1000, host: 'h', pid: 7, ...fields };
}

export function anIntent(fields: Partial<IntentEntry> = {}): IntentEntry {
  return { type: 'intent', step: 1, request: 1, part: '', at: 1000, line: [0, 100], rows: [0, 10], ...fields };
}

export function anOutcome(fields: Partial<OutcomeEntry> = {}): OutcomeEntry {
  return { type: 'outcome', step: 1, request: 1, part: '', at: 1001, result: aSettlement(10), ...fields };
}

export function aClose(fields: Partial<CloseEntry> = {}): CloseEntry {
  return { type: 'close', at: 1002, reason: 'finished', detail: '', ...fields };
}

/** Every row accepted, save the first `rejected`. */
export function aSettlement(rows: number, rejected = 0): PartResult {
  const verdicts = [
    { status: 'accepted', code: 'QUEUED', reason: '' },
    { status: 'rejected', code: '1002', reason: 'no number' },
  ] as const;
  const outcomes = Array.from({ length: rows }, (_, row) => [row < rejected ? 1 : 0, `id-${row}`] as const);
  return { kind: 'settled', outcomes: { verdicts, rows: outcomes, shared: ['batch-1'] } };
}

/** One line's bytes; unless said otherwise everything before it was synced when it was written. */
export function aLine(line: { seq: number; epoch?: number; durable?: number; entry?: JournalEntry }): Buffer {
  const { seq, epoch = 1, durable = seq - 1, entry = anIntent({ request: seq }) } = line;
  return encodeLine({ epoch, seq, durable, entry });
}

/** Lines numbered from 1. `durable` says for each what it builds upon. */
export function someLines(count: number, durable: (seq: number) => number = (seq) => seq - 1): Buffer[] {
  return Array.from({ length: count }, (_, index) => aLine({ seq: index + 1, durable: durable(index + 1) }));
}

/** The lock of an epoch, for a run of which nothing is noted yet. */
export function aLock(epoch: number) {
  return { plan: 'p1', lock: { epoch, known: () => undefined, note: async () => {} } };
}

export function memoryFiles(tree: Record<string, string | Buffer | null> = { '/run': null }): Files {
  return createFiles(memfs(tree).fs.promises as unknown as RawFiles);
}

/** Reads these bytes as a journal. */
export async function readBytes(...pieces: readonly (Buffer | string)[]) {
  const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
  const lines: PlacedLine[] = [];
  const end = await readJournal(memoryFiles({ [JOURNAL_PATH]: bytes }), JOURNAL_PATH, (line) => lines.push(line));
  return { end, lines, seqs: lines.map((line) => line.seq) };
}
