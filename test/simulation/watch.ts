import { decodeLine, type JournalEntry } from '../../src/journal/format.js';
import type { Call } from '../../src/service/transport.js';
import type { CrashDisk } from './crash-disk.js';

export class Violation extends Error {}

/** Watches that no message leaves without an intent of its own that a power cut at this moment would leave on disk. */
export class IntentWatch {
  readonly #disk: CrashDisk;
  /** Row (its clientMessageId) → how often it left. */
  readonly #left = new Map<string, number>();
  readonly #seen = new Map<string, { bytes: Buffer; intents: Map<string, number> }>();

  constructor(disk: CrashDisk) {
    this.#disk = disk;
  }

  check(call: Call): void {
    if (!call.path.endsWith('/messages/batch')) return;
    const { messages } = JSON.parse(call.body?.toString('utf8') ?? '{}') as { messages: { clientMessageId: string }[] };
    for (const { clientMessageId } of messages) {
      const left = (this.#left.get(clientMessageId) ?? 0) + 1;
      this.#left.set(clientMessageId, left);
      const [plan = '', step = '', row = ''] = clientMessageId.split('-');
      const intents = this.#intentsOf(plan).get(`${step}-${row}`) ?? 0;
      if (intents < left)
        throw new Violation(`${clientMessageId} leaves ${left} times, and has ${intents} durable intents`);
    }
  }

  #intentsOf(plan: string): Map<string, number> {
    const bytes = this.#disk.readDurable(`/out/sim/${plan}/journal.ndjson`) ?? Buffer.alloc(0);
    const known = this.#seen.get(plan);
    const isLonger = known !== undefined && bytes.subarray(0, known.bytes.length).equals(known.bytes);
    const intents = isLonger ? known.intents : new Map<string, number>();
    const from = isLonger ? known.bytes.length : 0;
    const end = bytes.lastIndexOf(10) + 1;
    for (const entry of entriesIn(bytes.subarray(from, end))) {
      if (entry.type !== 'intent') continue;
      for (let row = entry.rows[0]; row < entry.rows[0] + entry.rows[1]; row++) {
        const key = `${entry.step}-${row}`;
        intents.set(key, (intents.get(key) ?? 0) + 1);
      }
    }
    this.#seen.set(plan, { bytes: bytes.subarray(0, end), intents });
    return intents;
  }
}

/** Of a journal, what can be read, in the order of the file. */
export function* entriesIn(bytes: Buffer): Generator<JournalEntry> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    if (end === -1) return;
    const line = decodeLine(bytes.subarray(at, end));
    if (line !== undefined) yield line.entry;
    at = end + 1;
  }
}
