import { formatDay } from '../../domain/stated-time.js';

/** `00:07:18`, in UTC. */
export function formatClock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** `48 s`, `12 min`, `1 h 5 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
}

/** `on 23 November 2026 from 00:07 to 00:08 UTC`; of a run that crosses midnight both days. */
export function formatSpan(startMs: number, endMs: number): string {
  const [start, end] = [formatClock(startMs).slice(0, 5), formatClock(endMs).slice(0, 5)];
  if (formatDay(startMs) !== formatDay(endMs))
    return `from ${formatDay(startMs)}, ${start} to ${formatDay(endMs)}, ${end} UTC`;
  return start === end
    ? `on ${formatDay(startMs)} at ${start} UTC`
    : `on ${formatDay(startMs)} from ${start} to ${end} UTC`;
}
