/** Sets of minutes, hours, days of the month, months, days of the week; and whether each of the two kinds of days is restricted. */
export interface CronFields {
  readonly sets: readonly ReadonlySet<number>[];
  readonly texts: readonly string[];
}

const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;
const NAMES: readonly (readonly string[])[] = [
  [],
  [],
  [],
  ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
];

/** As Kubernetes reads a schedule (robfig/cron, five fields); undefined for what it refuses. */
export function readCron(schedule: string): CronFields | undefined {
  const texts = schedule.split(' ');
  if (texts.length !== RANGES.length) return undefined;
  const sets = texts.map(readField);
  return sets.some((set) => set === undefined) ? undefined : { sets: sets as ReadonlySet<number>[], texts };
}

function readField(text: string, field: number): Set<number> | undefined {
  const [least, most] = RANGES[field] ?? [0, 0];
  const values = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [, range = '', step] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? [];
    const [first, last, ...more] = range === '*' || range === '?' ? [String(least), String(most)] : range.split('-');
    const numbers = [first, last].map((word) => readNumber(word, field));
    const from = numbers[0] ?? Number.NaN;
    const to = numbers[1] ?? (step === undefined ? from : most);
    if (!(from >= least && to <= most && from <= to) || more.length > 0 || step === '0') return undefined;
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

function readNumber(word: string | undefined, field: number): number | undefined {
  if (word === undefined) return undefined;
  const named = NAMES[field]?.indexOf(word) ?? -1;
  return named >= 0 && word !== '' ? named : /^\d+$/.test(word) ? Number(word) : Number.NaN;
}

const MINUTES = 1440;

/** The minutes of five years at which it fires, a leap year among them. */
export function firesOf({ sets, texts }: CronFields): number[] {
  const [minutes, hours, days, months, weekdays] = sets as [
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
  ];
  const isAny = (field: number) => /^[*?]/.test(texts[field] ?? '');
  const times = [...hours]
    .flatMap((hour) => [...minutes].map((minute) => hour * 60 + minute))
    .toSorted((a, b) => a - b);
  const fires: number[] = [];
  for (let day = 0; day < 5 * 366; day += 1) {
    const date = new Date(Date.UTC(2024, 0, 1 + day));
    const inMonth = days.has(date.getUTCDate());
    const inWeek = weekdays.has(date.getUTCDay());
    // Restricted in both ways, either is enough.
    const isDay = isAny(2) || isAny(4) ? inMonth && inWeek : inMonth || inWeek;
    if (isDay && months.has(date.getUTCMonth() + 1)) fires.push(...times.map((time) => day * MINUTES + time));
  }
  return fires;
}
