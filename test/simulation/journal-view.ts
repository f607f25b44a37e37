import type { JournalLine } from '../../src/journal/entry-format.js';
import { decodeLast, Violation } from '../world/violation.js';

/** What a look at a journal found: the lines that count behind those of the look before, or all of them anew. */
export type Look = Readonly<{ isAnew: boolean; lines: readonly JournalLine[] }>;

const NEWLINE = 10;

/**
 * The lines of a growing journal that count, by the rules of its format; told apart from the reader of the program, to judge it.
 *
 * A line counts when its `seq` follows that of the last one that does. Passed over are lines of an older epoch than that one's,
 * and those that a later runner had not read when it opened the journal. Behind a line that is damaged none counts, until a
 * runner opens the journal that read as far.
 */
export class JournalView {
  #bytes: Buffer = Buffer.alloc(0);
  #end = 0;
  /** Undefined for a line that is damaged. */
  #lines: (JournalLine | undefined)[] = [];
  #openers: JournalLine[] = [];
  #highestEpoch = -1;
  #lastSeq = 0;
  #lastEpoch = 0;
  #isBroken = false;

  /** `bytes` are those of the whole journal. Undefined where it has no more whole lines than at the last look. */
  look(bytes: Buffer): Look | undefined {
    if (bytes === this.#bytes) return undefined;
    if (!bytes.subarray(0, this.#end).equals(this.#bytes.subarray(0, this.#end))) {
      throw new Violation('a journal lost lines that were durable, or they changed');
    }
    this.#bytes = bytes;
    const found = this.#decode();
    if (found.length === 0) return undefined;
    const durable = this.#lastSeq;
    const hadOpeners = this.#openers.length;
    for (const line of found) this.#note(line);
    const isAnew = this.#openers.length > Math.max(1, hadOpeners);
    if (isAnew) this.#forget();
    const lines = this.#count(isAnew ? this.#lines : found);
    for (const line of found) if (line !== undefined && lines.includes(line)) checkDurable(line, durable);
    return { isAnew, lines };
  }

  #decode(): (JournalLine | undefined)[] {
    const found: (JournalLine | undefined)[] = [];
    for (let end = this.#bytes.indexOf(NEWLINE, this.#end); end !== -1; end = this.#bytes.indexOf(NEWLINE, this.#end)) {
      found.push(decodeLast(this.#bytes.subarray(this.#end, end)));
      this.#end = end + 1;
    }
    return found;
  }

  #note(line: JournalLine | undefined): void {
    this.#lines.push(line);
    if (line === undefined || line.epoch <= this.#highestEpoch) return;
    this.#highestEpoch = line.epoch;
    if (line.entry.type === 'open') this.#openers.push(line);
  }

  #forget(): void {
    this.#lastSeq = 0;
    this.#lastEpoch = 0;
    this.#isBroken = false;
  }

  #count(lines: readonly (JournalLine | undefined)[]): JournalLine[] {
    const counted: JournalLine[] = [];
    for (const line of lines) {
      if (line !== undefined && (line.epoch < this.#lastEpoch || this.#isUnread(line))) continue;
      if (line !== undefined && this.#fixes(line)) this.#isBroken = false;
      if (line === undefined || this.#isBroken || line.seq !== this.#lastSeq + 1) {
        this.#isBroken = true;
        if (line !== undefined && line.durable > this.#lastSeq)
          throw new Violation(`a journal is damaged ${told(line)}`);
        continue;
      }
      counted.push(line);
      this.#lastSeq = line.seq;
      this.#lastEpoch = line.epoch;
    }
    return counted;
  }

  #isUnread({ epoch, seq }: JournalLine): boolean {
    return this.#openers.some((later) => later.epoch > epoch && later.seq <= seq);
  }

  #fixes({ epoch, seq, durable, entry }: JournalLine): boolean {
    return entry.type === 'open' && epoch > this.#lastEpoch && durable === this.#lastSeq && seq === this.#lastSeq + 1;
  }
}

/** A line may call durable only what was: a reader takes the want of it for damage, and refuses the run. */
function checkDurable(line: JournalLine, durable: number): void {
  if (line.durable > durable) throw new Violation(`line ${line.durable} is called durable ${told(line)}, and was not`);
}

function told({ epoch, seq }: JournalLine): string {
  return `by line ${seq} of epoch ${epoch}`;
}
