import type { Host, Mishap, Scenario } from './scenario.js';
import type { Runner } from './sim-process.js';
import type { Timeline } from './timeline.js';

/** As long as the first process lives, others try to take its job, one after the other: those that have started. */
export function scheduleRivals(
  timeline: Timeline,
  first: Runner,
  rival: Scenario['rival'],
  start: (host: Host, mishap: Mishap | undefined) => Runner,
): readonly Runner[] {
  const started: Runner[] = [];
  if (rival === undefined) return started;
  const challenge = (attempt: number) => {
    if (first.isOver || attempt > 6) return;
    started.push(start(rival.isOnSameHost ? 'node-a' : 'node-b', attempt === 0 ? rival.mishap : undefined));
    timeline.schedule(25_000, () => challenge(attempt + 1));
  };
  timeline.schedule(rival.delayMs, () => challenge(0));
  return started;
}
