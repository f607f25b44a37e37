import type { Area } from '../../domain/areas.js';
import { choosePlaces, createRandom, type Random } from '../random.js';
import { type Distortion, isDistortion, parseFaults, phaseOf, type SandboxFault } from './fault.js';

/** A fault applied to a request, with its own random numbers for that request. */
export interface ChosenFault {
  readonly fault: SandboxFault;
  readonly random: Random;
}

/** Those that the answers of a route can have. */
type Distortions = Readonly<Partial<Record<Distortion, unknown>>>;

/** All faults applied to one request: at most one that decides the answer, and any number of delays and row faults. */
export interface AppliedFaults {
  readonly delayMs: number;
  readonly before: ChosenFault | undefined;
  readonly rows: readonly ChosenFault[];
  readonly after: ChosenFault | undefined;
}

/** The faults that are set. Deterministic: the same faults and the same order of requests give the same result. */
export class FaultSet {
  #faults: SandboxFault[] = [];
  #applied: number[] = [];
  readonly #requestsOf = new Map<Area, number>();

  /** Replaces all faults and begins to count requests anew. Throws a UserError when one makes no sense. */
  set(written: unknown): void {
    this.#faults = parseFaults(written);
    this.#applied = this.#faults.map(() => 0);
    this.#requestsOf.clear();
  }

  list(): (SandboxFault & { applied: number })[] {
    return this.#faults.map((fault, index) => ({ ...fault, applied: this.#applied[index] ?? 0 }));
  }

  /** Call once for each request, in the order of arrival. */
  choose(area: Area, distortions: Distortions, recipients: readonly string[]): AppliedFaults {
    const nth = (this.#requestsOf.get(area) ?? 0) + 1;
    this.#requestsOf.set(area, nth);
    let delayMs = 0;
    let decisive: ChosenFault | undefined;
    const rows: ChosenFault[] = [];
    for (const [index, fault] of this.#faults.entries()) {
      const phase = phaseOf(fault.kind);
      const isDecisive = phase === 'before' || phase === 'after';
      if (isDecisive && decisive !== undefined) continue;
      if (!this.#strikes(index, fault, { area, nth }) || !concerns(fault, distortions, recipients)) continue;
      this.#applied[index] = (this.#applied[index] ?? 0) + 1;
      const chosen = { fault, random: createRandom(fault.seed, -nth) };
      if (phase === 'delay') delayMs += fault.delayMs;
      else if (phase === 'rows') rows.push(chosen);
      else decisive = chosen;
    }
    const isBefore = decisive !== undefined && phaseOf(decisive.fault.kind) === 'before';
    return { delayMs, rows, before: isBefore ? decisive : undefined, after: isBefore ? undefined : decisive };
  }

  #strikes(index: number, fault: SandboxFault, request: { area: Area; nth: number }): boolean {
    if (fault.area !== undefined && fault.area !== request.area) return false;
    if (fault.times !== undefined && (this.#applied[index] ?? 0) >= fault.times) return false;
    if (fault.nth !== undefined && ![fault.nth].flat().includes(request.nth)) return false;
    return createRandom(fault.seed, request.nth)() < fault.rate;
  }
}

/** Skips distortions that the route's answers cannot have, and number faults for requests without such numbers. */
function concerns(fault: SandboxFault, distortions: Distortions, recipients: readonly string[]): boolean {
  const { endingWith, kind } = fault;
  if (endingWith !== undefined && !recipients.some((recipient) => recipient.endsWith(endingWith))) return false;
  return !isDistortion(kind) || distortions[kind] !== undefined;
}

/** The rows of a request that a fault is about: those whose number ends so, or a share of them, one at least. */
export function chooseRows({ fault, random }: ChosenFault, recipients: readonly string[]): boolean[] {
  const { endingWith } = fault;
  if (endingWith !== undefined) return recipients.map((recipient) => recipient.endsWith(endingWith));
  const count = fault.rows === 0 ? 0 : Math.max(1, Math.round(fault.rows * recipients.length));
  return choosePlaces(count, recipients.length, random);
}

/**
 * The first row fault that applies to a request about one row; `strict-numbers` depends on the number's form alone, and
 * is not among them.
 */
export function findRowFault(chosen: readonly ChosenFault[], recipient: string): SandboxFault | undefined {
  return chosen.find((each) => each.fault.kind !== 'strict-numbers' && chooseRows(each, [recipient])[0] === true)
    ?.fault;
}
