import { OpeningHours } from '../hours/window.js';
import { describeOpening, type Opening, zonesOf } from '../hours/zone-groups.js';
import type { RunState } from '../journal/replay.js';
import type { Plan } from '../plan/format/plan-file.js';
import { findWaitingStage } from '../run/waiting-stage.js';
import { countToSend } from '../texts/sending-question.js';

/** What of a run waits until a person has looked at the sample, or stage, before it. */
export interface WaitingRest {
  /** That is let pass, as `--pass-stage` names it. */
  readonly stage: number;
  /** How that went. */
  readonly why: string;
  readonly isSample: boolean;
  /** What is typed to send. */
  readonly count: number;
}

export function findRest(plan: Plan, state: RunState): WaitingRest | undefined {
  const waiting = findWaitingStage(plan, state);
  if (waiting === undefined) return undefined;
  const count = countToSend(plan, state).parts[0]?.count ?? 0;
  return { stage: waiting.number, why: waiting.why, isSample: waiting.verdict === 'asked', count };
}

/** When the hours begin in which messages may leave; undefined while some may leave now. */
export function describeClosed({ steps, job }: Plan, nowMs: number): string | undefined {
  for (const { number, hours } of steps) {
    const step = job.steps[number - 1];
    if (step?.kind !== 'sms' || step.window === undefined || hours === undefined) continue;
    const { window } = step;
    const opening = new OpeningHours(window);
    const next = Object.keys(hours.groups).flatMap((group): Opening[] => {
      const [zone = 'UTC', ...others] = zonesOf(window, group);
      const atMs = opening.findNextOpening([zone, ...others], nowMs);
      return atMs === undefined ? [] : [{ group, atMs, zone }];
    });
    const [first] = next.toSorted((one, other) => one.atMs - other.atMs);
    if (first !== undefined && first.atMs > nowMs) return `Messages may not leave now: ${describeOpening(first)}.`;
  }
  return undefined;
}
