import { halvesOf, type OpenRequest } from '../../journal/replay.js';
import type { PartSource, PartToSend } from './request-reader.js';
import { findClosed, type SendContext } from './send-context.js';
import { endUnsent } from './withhold.js';

/** Parts of one stage, and one group of hours, which have not come: without their bodies. */
interface ClosedParts extends Pick<PartToSend, 'head'> {
  readonly parts: Pick<PartToSend, 'open' | 'ambiguousAttempts' | 'deferrals'>[];
}

/** Parts of a step to send: those begun before, then those never begun, in the order of the plan; those that are closed, as soon as they open. */
export class PartQueue {
  readonly #context: Pick<SendContext, 'journal' | 'lock' | 'deps' | 'hours' | 'stages'>;
  readonly #source: PartSource;
  readonly #waiting: PartToSend[] = [];
  /** By stage and group of hours. */
  readonly #closed = new Map<string, ClosedParts>();

  constructor(context: Pick<SendContext, 'journal' | 'lock' | 'deps' | 'hours' | 'stages'>, source: PartSource) {
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

  get hasClosed(): boolean {
    return this.#closed.size > 0;
  }

  /** Groups of which parts wait for their hours alone. */
  get closedGroups(): readonly string[] {
    return this.#closedNow().map(([, { head }]) => head.hours ?? '');
  }

  /** Keeps a part until its stage and its hours come. */
  close({ open, head, ambiguousAttempts, deferrals }: PartToSend): void {
    const name = `${head.stage ?? ''} ${head.hours ?? ''}`;
    const closed = this.#closed.get(name) ?? { head, parts: [] };
    if (closed.parts.length === 0) this.#closed.set(name, closed);
    closed.parts.push({ open, ambiguousAttempts, deferrals });
  }

  /** Takes the parts that wait for their hours alone: the caller has them then. */
  takeClosed(): readonly OpenRequest[] {
    return this.#closedNow().flatMap(([name, { parts }]) => {
      this.#closed.delete(name);
      return parts.map((part) => part.open);
    });
  }

  #closedNow(): [string, ClosedParts][] {
    const { stages } = this.#context;
    return [...this.#closed].filter(([, { head }]) => stages?.isOpen(head) !== false);
  }

  /** Takes the next part; undefined when none waits and the whole plan was begun, save for what is closed. */
  async next({ isSmallestFirst }: { isSmallestFirst: boolean }): Promise<PartToSend | undefined> {
    // Ties by place in the plan: held-back parts come before those never begun.
    if (isSmallestFirst) {
      this.#waiting.sort(
        ({ open: { rows: one } }, { open: { rows: other } }) => one[1] - other[1] || one[0] - other[0],
      );
    }
    return this.#waiting.shift() ?? (await this.#reopen()) ?? (await this.#source.next());
  }

  async #reopen(): Promise<PartToSend | undefined> {
    for (const [name, closed] of this.#closed) {
      if (findClosed(closed, this.#context) !== undefined) continue;
      const part = closed.parts.shift();
      if (closed.parts.length === 0) this.#closed.delete(name);
      const again = part && (await this.#source.readAgain?.(part.open));
      if (part !== undefined && again !== undefined) return { ...again, ...part };
    }
    return undefined;
  }

  /**
   * Halves a part, in the journal, until one piece has so few rows; all pieces wait, that one first. As with a request
   * that is refused, there is an intent before each split; nothing is sent under it.
   */
  async split(part: PartToSend, maxRows: number): Promise<void> {
    const { journal, lock, deps } = this.#context;
    await lock.assertHeld();
    const rest: PartToSend[] = [];
    const written: Promise<void>[] = [];
    let { open } = part;
    while (open.rows[1] > maxRows) {
      const entries = endUnsent(open, { kind: 'split', why: WHY }, deps.clock.now());
      written.push(...entries.map((entry) => journal.append(entry)));
      const [first, second] = halvesOf(open);
      rest.unshift({ ...part, open: second });
      open = first;
    }
    await Promise.all(written);
    this.#waiting.unshift({ ...part, open }, ...rest);
  }
}

const WHY = 'smaller parts, until the service has answered';
