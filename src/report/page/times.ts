const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** `23 November 2026`, in UTC. */
export function formatDay(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

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

/** `24 November 2026 at 10:00 (UTC+01:00)`: a time with its offset, by the clock of the place. */
export function formatWritten(time: string): string {
  const [, day = '', clock = '', offset = ''] = /^(.{10})T(\d\d:\d\d).*?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  if (day === '') return time;
  return `${formatDay(Date.parse(day))} at ${clock} ${offset === 'Z' ? 'UTC' : `(UTC${offset})`}`;
}
