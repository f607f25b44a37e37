import { formatDay, stateTime } from '../../domain/stated-time.js';

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

/** `on 23 November 2026 from 08:07 to 08:08 Asia/Singapore`, by the clocks of a zone; of a run that crosses midnight there both days. */
export function formatSpan(startMs: number, endMs: number, timeZone: string): string {
  const [start, end] = [startMs, endMs].map((ms) => stateTime(ms, timeZone).at) as [string, string];
  const [from, to] = [start.slice(11, 16), end.slice(11, 16)];
  const [day, lastDay] = [start, end].map((at) => formatDay(Date.parse(at.slice(0, 10))));
  if (day !== lastDay) return `from ${day}, ${from} to ${lastDay}, ${to} ${timeZone}`;
  return from === to ? `on ${day} at ${from} ${timeZone}` : `on ${day} from ${from} to ${to} ${timeZone}`;
}
