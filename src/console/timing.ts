import { isObject } from '../domain/is-object.js';
import { formatZoned, isTimeZone, listZones, readClock } from '../domain/stated-time.js';
import { DAYS } from '../hours/window.js';
import { isLocalTime, readLocalTime } from '../job/local-time.js';
import { nameCountry } from '../normalize/country.js';
import type { Plan } from '../plan/format/plan-file.js';

/** When a campaign leaves, as the form has it: texts, '' where nothing is said. */
export interface Timing {
  readonly kind: 'now' | 'at' | 'window';
  /** `2026-12-01`, `10:00`, and whose clock that is. */
  readonly day: string;
  readonly time: string;
  readonly zone: string;
  /** The hours of a day, `09:00` and `20:00`, and whose clock: '' is that of each recipient. */
  readonly from: string;
  readonly to: string;
  readonly clock: string;
  readonly days: readonly string[];
  /** `5%`; '' sends all at once. */
  readonly sample: string;
}

const WORKDAYS: readonly string[] = DAYS.slice(0, 6);

/** Reads the timing of a step as its job file has it; `unknown`: keys that say what the form cannot. */
export function toTiming(step: unknown): { timing: Timing; unknown: readonly string[] } {
  const { template, window, ramp } = isObject(step) ? step : {};
  const scheduled = isObject(template) ? template.scheduled : undefined;
  const at = readScheduled(scheduled);
  const hours = readHours(window);
  const sample = readSample(ramp);
  const isUnknown = {
    'steps.template.scheduled': scheduled !== undefined && at === undefined,
    'steps.window': window !== undefined && hours === undefined,
    'steps.ramp': ramp !== undefined && sample === undefined,
  };
  return {
    timing: {
      kind: scheduled !== undefined ? 'at' : window === undefined ? 'now' : 'window',
      ...(at ?? { day: '', time: '', zone: '' }),
      ...(hours ?? { from: '', to: '', clock: '', days: WORKDAYS }),
      sample: sample ?? '',
    },
    unknown: Object.entries(isUnknown).flatMap(([key, is]) => (is ? [key] : [])),
  };
}

function readScheduled(written: unknown): Pick<Timing, 'day' | 'time' | 'zone'> | undefined {
  if (!isObject(written)) return undefined;
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)$/.exec(String(written.at)) ?? [];
  return day === '' ? undefined : { day, time, zone: String(written.timeZone ?? '') };
}

function readHours(written: unknown): Pick<Timing, 'from' | 'to' | 'clock' | 'days'> | undefined {
  if (!isObject(written) || 'unknown' in written) return undefined;
  const { from = '', to = '', timeZone = 'recipient', days = WORKDAYS } = written;
  if (typeof timeZone !== 'string' || !Array.isArray(days)) return undefined;
  const clock = timeZone === 'recipient' ? '' : timeZone;
  return { from: String(from), to: String(to), clock, days: days.map(String) };
}

function readSample(written: unknown): string | undefined {
  const [stage, ...more] = Array.isArray(written) ? written : [];
  if (more.length > 0 || !isObject(stage) || stage.ask !== true) return undefined;
  return Object.keys(stage).length === 2 && 'share' in stage ? String(stage.share) : undefined;
}

export function readTiming(fields: Readonly<Record<string, unknown>>): Timing {
  const text = (name: string) => String(fields[name] ?? '').trim();
  const kind = text('when');
  const [sample, days] = [text('sample'), DAYS.filter((day) => fields[`day-${day}`] !== undefined)];
  return {
    kind: kind === 'at' || kind === 'window' ? kind : 'now',
    day: text('day'),
    time: text('time'),
    zone: text('zone'),
    from: text('from'),
    to: text('to'),
    clock: text('clock'),
    days,
    sample: /^[\d.]+$/.test(sample) ? `${sample}%` : sample,
  };
}

/** `1 December 2026 at 10:00 Asia/Singapore (1 December 2026 at 03:00 Europe/Berlin)`; `own`: the zone of who reads it. */
export function describeTiming({ kind, sample, ...timing }: Timing, own: string): string {
  const first = sample === '' ? '' : `${sample} first, then the rest once you say so`;
  const parts = [kind === 'at' ? describeMoment(timing, own) : kind === 'window' ? describeHours(timing) : '', first];
  return parts.filter((part) => part !== '').join('; ') || 'At once';
}

function describeMoment({ day, time, zone }: Pick<Timing, 'day' | 'time' | 'zone'>, own: string): string {
  const at = `${day} ${time}`;
  const read = isTimeZone(zone) && isLocalTime(at) ? readLocalTime(at, zone) : undefined;
  if (read?.kind !== 'one') return `${day} ${time} in ${zone}`;
  const [there, here] = [zone, own].map((each) => formatZoned(Date.parse(read.instant), each));
  return there?.replace(zone, '') === here?.replace(own, '') ? `${there}` : `${there} (${here})`;
}

function describeHours({ from, to, clock, days }: Pick<Timing, 'from' | 'to' | 'clock' | 'days'>): string {
  const whose = clock === '' ? "by each recipient's clock" : `in ${clock}`;
  return `Between ${from} and ${to} ${whose}, ${days.length === DAYS.length ? 'daily' : days.join(' ')}`;
}

/** Where a plan that leaves at once comes by night, from 22 to 8, with the local time; undefined where nowhere. */
export function findNight({ job, steps }: Pick<Plan, 'job' | 'steps'>, nowMs: number): string | undefined {
  const isLater = job.steps.some((step) => step.kind === 'sms' && (step.window ?? step.template.scheduled));
  if (isLater) return undefined;
  const found = steps
    .flatMap(({ countries }) => Object.keys(countries))
    .flatMap((country) => {
      const clocks = [...new Set(listZones(country).map((zone) => readClock(nowMs, zone).slice(11)))];
      const nights = clocks.filter((clock) => clock >= '22:00' || clock < '08:00');
      const where = nights.length < clocks.length ? 'in parts of ' : 'in ';
      return nights.length === 0 ? [] : [`${nights.slice(0, 3).join(' or ')} ${where}${nameCountry(country)}`];
    });
  return found.length === 0 ? undefined : found.slice(0, 5).join(', ');
}
