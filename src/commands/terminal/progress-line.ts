import { format } from '../../domain/count-of.js';
import type { Progress } from '../../run/run-deps.js';
import { cutText, widthOf } from './text-width.js';

/** What a bar shows beside the figures of a step: rows a second, and seconds left where that can be said. */
export interface Pace {
  readonly rowsPerSecond: number;
  readonly secondsLeft: number | undefined;
}

const MOST_BAR = 30;
const LEAST_BAR = 10;

/** One line that is narrower than the terminal: with less room, first the bar gets shorter, then figures go from the right. */
export function formatProgress(progress: Progress, { rowsPerSecond, secondsLeft }: Pace, columns: number): string {
  const { step, kind, rows, settled, accepted, rejected, inDoubt } = progress;
  const share = rows === 0 ? 1 : Math.min(1, settled / rows);
  const name = `${step} ${kind}`;
  const parts = [
    `${Math.floor(share * 100)} %`,
    `${format(settled)} of ${format(rows)}`,
    ...(secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`]),
    `${format(rowsPerSecond)}/s`,
    ...(rejected > 0 ? [`${format(rejected)} rejected`] : []),
    ...(inDoubt > 0 ? [`${format(inDoubt)} in doubt`] : []),
    `${format(accepted)} accepted`,
  ];
  // One column less than there are: a line that fills its row makes some terminals begin another.
  const room = columns - 1 - widthOf(name) - 1;
  let shown = parts;
  while (shown.length > 1 && room - widthOf(shown.join(' · ')) - 1 < LEAST_BAR) shown = shown.slice(0, -1);
  const text = shown.join(' · ');
  const width = Math.min(MOST_BAR, room - widthOf(text) - 1);
  if (width < LEAST_BAR) return cutText(`${name} ${text}`, columns - 1);
  const filled = Math.round(share * width);
  return `${name} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${text}`;
}

/** `95` → `1 min 35 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
