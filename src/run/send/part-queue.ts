import { halvesOf } from '../../journal/replay.js';
import type { PartSource, PartToSend } from './request-reader.js';
import type { SendContext } from './send-context.js';

/** Parts of a step to send: those begun before, then those never begun, in the order of the plan. */
export class PartQueue {
  readonly #context: Pick<SendContext, 'journal' | 'lock' | 'deps'>;
  readonly #source: PartSource;
  readonly #waiting: PartToSend[] = [];

  constructor(context: Pick<SendContext, 'journal' | 'lock' | 'deps'>, source: PartSource) {
    this.#context = context;
    this.#source = source;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  push(...parts: PartToSend[]): void {
    this.#waiting.push(...parts);
  }

  putBack(...parts: readonly PartToSend[]): void {
    this.#waiting.unshift(...parts);
  }

  /** Undefined when none waits and the whole plan was begun. */
  async next({ isSmallestFirst }: { isSmallestFirst: boolean }): Promise<PartToSend | undefined> {
    if (isSmallestFirst) this.#putSmallestFirst();
    return this.#waiting.shift() ?? (await this.#source.next());
  }

  /**
   * Halves a part, in the journal, until one piece has so few rows; all pieces wait, that one first. As with a request
   * that is refused, there is an intent before each split; nothing is sent under it. All entries go in one write: a
   * power cut within it leaves an intent alone, and its rows in doubt.
   */
  async split(part: PartToSend, maxRows: number): Promise<void> {
    const { journal, lock, deps } = this.#context;
    await lock.assertHeld();
    const rest: PartToSend[] = [];
    const written: Promise<void>[] = [];
    let { open } = part;
    while (open.rows[1] > maxRows) {
      const { step, request, part: path, line, rows } = open;
      const key = { step, request, part: path, at: deps.clock.now() };
      written.push(journal.append({ type: 'intent', ...key, line, rows }));
      written.push(journal.append({ type: 'outcome', ...key, result: { kind: 'split', why: WHY } }));
      const [first, second] = halvesOf(open);
      rest.unshift({ ...part, open: second });
      open = first;
    }
    await Promise.all(written);
    this.#waiting.unshift({ ...part, open }, ...rest);
  }

  #putSmallestFirst(): void {
    // Ties by place in the plan: held-back parts come before those never begun.
    const smallest = this.#waiting.reduce<PartToSend | undefined>(
      (best, part) => (best === undefined || isBefore(part, best) ? part : best),
      undefined,
    );
    if (smallest === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(smallest), 1);
    this.#waiting.unshift(smallest);
  }
}

function isBefore({ open: one }: PartToSend, { open: other }: PartToSend): boolean {
  return one.rows[1] === other.rows[1] ? one.rows[0] < other.rows[0] : one.rows[1] < other.rows[1];
}

const WHY = 'smaller parts, until the service has answered';
