import type { Area } from '../../domain/areas.js';
import type { Route } from '../area.js';
import { createRandom } from '../random.js';
import type { ChosenFault } from './chosen.js';
import { isDistortion, parseFaults, phaseOf, type SandboxFault } from './fault.js';

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
  choose(area: Area, route: Route, recipients: readonly string[]): AppliedFaults {
    const nth = (this.#requestsOf.get(area) ?? 0) + 1;
    this.#requestsOf.set(area, nth);
    let delayMs = 0;
    let decisive: ChosenFault | undefined;
    const rows: ChosenFault[] = [];
    for (const [index, fault] of this.#faults.entries()) {
      const phase = phaseOf(fault.kind);
      const isDecisive = phase === 'before' || phase === 'after';
      if (isDecisive && decisive !== undefined) continue;
      if (!this.#strikes(index, fault, { area, nth }) || !concerns(fault, route, recipients)) continue;
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
function concerns(fault: SandboxFault, route: Route, recipients: readonly string[]): boolean {
  const { endingWith, kind } = fault;
  if (endingWith !== undefined && !recipients.some((recipient) => recipient.endsWith(endingWith))) return false;
  return !isDistortion(kind) || route.distortions[kind] !== undefined;
}
