import { remember } from '../../domain/is-object.js';
import { halvesOf, type OpenRequest } from '../../journal/replay.js';
import type { PartSource, PartToSend } from './request-reader.js';
import { findClosed, type SendContext } from './send-context.js';
import { endUnsent } from './withhold.js';

/** Parts of one stage, and one group of hours, which have not come: without their bodies. */
interface ClosedParts extends Pick<PartToSend, 'head'> {
  readonly parts: Pick<PartToSend, 'open' | 'ambiguousAttempts' | 'deferrals'>[];
}

/** Parts of a step to send: those begun before, then those never begun, in the order of the plan; those that are closed, as soon as they open. */
export function createPartQueue(
  context: Pick<SendContext, 'journal' | 'lock' | 'deps' | 'hours' | 'stages'>,
  source: PartSource,
) {
  const waiting: PartToSend[] = [];
  /** By stage and group of hours. */
  const closed = new Map<string, ClosedParts>();

  /** What waits for its hours alone. */
  const listClosedNow = () => [...closed].filter(([, { head }]) => context.stages?.isOpen(head) !== false);
  const reopen = async (): Promise<PartToSend | undefined> => {
    for (const [name, group] of closed) {
      if (findClosed(group, context) !== undefined) continue;
      const part = group.parts.shift();
      if (group.parts.length === 0) closed.delete(name);
      const again = part && (await source.readAgain?.(part.open));
      if (part !== undefined && again !== undefined) return { ...again, ...part };
    }
    return undefined;
  };
  return {
    get hasWaiting(): boolean {
      return waiting.length > 0;
    },
    get hasClosed(): boolean {
      return closed.size > 0;
    },
    /** Groups of which parts wait for their hours alone. */
    get closedGroups(): readonly string[] {
      return listClosedNow().map(([, { head }]) => head.hours ?? '');
    },
    push(...parts: PartToSend[]): void {
      waiting.push(...parts);
    },
    putBack(...parts: readonly PartToSend[]): void {
      waiting.unshift(...parts);
    },
    /** Keeps a part until its stage and its hours come. */
    close({ open, head, ambiguousAttempts, deferrals }: PartToSend): void {
      const group = remember(
        closed,
        `${head.stage ?? ''} ${head.hours ?? ''}`,
        (): ClosedParts => ({ head, parts: [] }),
      );
      group.parts.push({ open, ambiguousAttempts, deferrals });
    },
    /** Takes the parts that wait for their hours alone: the caller has them then. */
    takeClosed(): readonly OpenRequest[] {
      return listClosedNow().flatMap(([name, { parts }]) => {
        closed.delete(name);
        return parts.map((part) => part.open);
      });
    },
    /** Takes the next part; undefined when none waits and the whole plan was begun, save for what is closed. */
    async next({ isSmallestFirst }: { isSmallestFirst: boolean }): Promise<PartToSend | undefined> {
      // Ties by place in the plan: held-back parts come before those never begun.
      if (isSmallestFirst) {
        waiting.sort(({ open: { rows: one } }, { open: { rows: other } }) => one[1] - other[1] || one[0] - other[0]);
      }
      return waiting.shift() ?? (await reopen()) ?? (await source.next());
    },
    /**
     * Halves a part, in the journal, until one piece has so few rows; all pieces wait, that one first. As with a request
     * that is refused, there is an intent before each split; nothing is sent under it.
     */
    async split(part: PartToSend, maxRows: number): Promise<void> {
      const { journal, lock, deps } = context;
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
      waiting.unshift({ ...part, open }, ...rest);
    },
  };
}

const WHY = 'smaller parts, until the service has answered';
