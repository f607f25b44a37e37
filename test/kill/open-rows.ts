import { crc32 } from 'node:zlib';

/** What a journal says, read from its lines as their format is written down, and not with the code under test. */
export interface JournalFacts {
  /** `<step> <index of the planned row>` of rows between an intent and its outcome. */
  readonly openRows: readonly string[];
  /** The call that makes a webhook or a channel has no answer yet. */
  readonly isPreparing: boolean;
  /** How often the run stopped to say that such a thing may exist. */
  readonly saidUnknown: number;
  readonly isFinished: boolean;
}

interface Entry {
  readonly seq: number;
  readonly type: string;
  readonly step: number;
  readonly request: number;
  readonly part: string;
  readonly rows: readonly [number, number];
  readonly why: string;
  readonly reason: string;
}

export function readJournalFacts(journal: Buffer): JournalFacts {
  const open = new Map<string, Entry>();
  let isPreparing = false;
  let saidUnknown = 0;
  let isFinished = false;
  for (const entry of entriesOf(journal)) {
    const key = `${entry.step}/${entry.request}/${entry.part}`;
    if (entry.type === 'intent') open.set(key, entry);
    if (entry.type === 'outcome') open.delete(key);
    if (entry.type === 'preparing') isPreparing = true;
    if (entry.type === 'prepared' || entry.type === 'unprepared') isPreparing = false;
    if (entry.type === 'unprepared' && entry.why === 'unknown') saidUnknown += 1;
    isFinished = entry.type === 'close' && entry.reason === 'finished';
  }
  const openRows = [...open.values()].flatMap(({ step, rows: [first, count] }) =>
    Array.from({ length: count }, (_, index) => `${step} ${first + index}`),
  );
  return { openRows, isPreparing, saidUnknown, isFinished };
}

/** One runner after the other: each goes on counting where the one before ended, so whatever does not follow is garbage. */
function* entriesOf(journal: Buffer): Generator<Entry> {
  let seq = 0;
  // What stands behind the last newline was never whole.
  for (const line of journal.toString('latin1').split('\n').slice(0, -1)) {
    const [, crc, body] = /^\{"crc":"([0-9a-f]{8})",(.*)$/s.exec(line) ?? [];
    if (crc === undefined || body === undefined) continue;
    if (crc32(Buffer.from(body, 'latin1')) !== Number.parseInt(crc, 16)) continue;
    const entry: Entry = JSON.parse(Buffer.from(line, 'latin1').toString());
    if (entry.seq !== seq + 1) continue;
    seq = entry.seq;
    yield entry;
  }
}
