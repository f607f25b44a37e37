import { isRowStep, type Job } from '../../../src/job/job.js';
import { kindOf } from '../../../src/kinds/kinds.js';
import { Violation } from '../../world/violation.js';
import type { Subject } from '../run-watch.js';

const SECOND_MS = 1000;

/** Of all processes together: in no sliding second does more leave than the limit and one request. */
export class RateWatch {
  readonly #job: Job;
  readonly #left = new Map<string, { atMs: number; cost: number }[]>();

  constructor(job: Job) {
    this.#job = job;
  }

  onLeave(subject: Subject, atMs: number): void {
    const step = subject.type === 'read' ? undefined : this.#job.steps[subject.step - 1];
    if (step === undefined || !isRowStep(step)) return;
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
