import type { RowStep } from '../../../src/job/job.js';
import { kindOf } from '../../../src/kinds/kinds.js';
import type { Subject } from '../subject.js';
import { Violation } from '../watch.js';

const SECOND_MS = 1000;

/** Of all processes together: in no sliding second does more leave than the limit and one request. */
export class RateWatch {
  readonly #steps: readonly RowStep[];
  readonly #left = new Map<string, { atMs: number; cost: number }[]>();

  constructor(steps: readonly RowStep[]) {
    this.#steps = steps;
  }

  onLeave(subject: Subject, atMs: number): void {
    if (subject.type !== 'rows' && subject.type !== 'thing') return;
    const step = this.#steps.find(({ kind }) => kind === subject.kind);
    if (step === undefined) return;
    const { area } = kindOf(step);
    const cost = 1 / step.limits.requestsPerSecond;
    const recent = (this.#left.get(area) ?? []).filter((one) => one.atMs > atMs - SECOND_MS);
    recent.push({ atMs, cost });
    this.#left.set(area, recent);
    const sum = recent.reduce((all, one) => all + one.cost, 0);
    if (sum > 1 + Math.max(...recent.map((one) => one.cost)) + 1e-6) {
      throw new Violation(
        `${recent.length} requests leave for ${area} within a second, at ${(1 / cost).toFixed(1)} a second`,
      );
    }
  }
}
