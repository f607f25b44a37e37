import { describe, expect, it } from 'vitest';
import type { Window } from '../../src/hours/window.js';
import { oneIn } from '../one-in.js';
import { aFolder, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';
import { aFakeClock, aRun, aScriptedService, reportOf } from './a-run.js';

/** Right before clocks change, forward and back. */
const CHANGES: readonly (readonly [zone: string, at: string])[] = [
  ['Europe/Berlin', '2027-03-28T01:00Z'],
  ['Europe/Berlin', '2027-10-31T01:00Z'],
  ['America/New_York', '2027-03-14T07:00Z'],
  ['America/New_York', '2027-11-07T06:00Z'],
  ['America/Santiago', '2027-04-04T03:00Z'],
  ['America/Santiago', '2027-09-05T04:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T15:00Z'],
  ['Australia/Lord_Howe', '2027-10-02T15:30Z'],
  ['Africa/Cairo', '2027-04-29T22:00Z'],
  ['Africa/Cairo', '2027-10-28T21:00Z'],
];
/** Across the hours that are skipped and repeated, at midnight too; behind them; and in the day. */
const HOURS = [
  ['00:00', '04:00'],
  ['01:30', '02:30'],
  ['02:00', '03:00'],
  ['23:00', '24:00'],
  ['09:00', '20:00'],
] as const;
const ROWS = 60;
const files = aFolder({
  'people.csv': `mobile\n${Array.from({ length: ROWS }, (_, row) => `+6590000${String(row).padStart(3, '0')}`).join('\n')}\n`,
});

/** What a clock on the wall shows, `2027-03-28 03:00`. */
function clockOf(zone: string, atMs: number): string {
  return new Date(atMs).toLocaleString('sv-SE', { timeZone: zone }).slice(0, 16);
}

async function aNight(zone: string, [from, to]: readonly [string, string], outside: Window['outside']) {
  const window: Window = {
    days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
    from,
    to,
    timeZone: zone,
    unknown: 'reject',
    outside,
  };
  const step = anSmsStep({ window, batchSize: 1, limits: someLimits({ concurrency: 1 }) });
  return aPlan({ files, job: { steps: [step] } });
}

function aJudge(clock: { now(): number }) {
  const sent: { to: string; atMs: number }[] = [];
  const service = aScriptedService(({ body }) => {
    for (const { destination } of body.messages ?? []) sent.push({ to: destination, atMs: clock.now() });
    return undefined;
  });
  return { service, sent };
}

describe.each(oneIn(5, CHANGES))('as the clocks change in %s at %s', (zone, at) => {
  it.each(oneIn(2, HOURS))(
    'from %s to %s each row is sent once, as the clock on the wall allows it',
    async (from, to) => {
      const made = await aNight(zone, [from, to], 'wait');
      const clock = aFakeClock(Date.parse(at) - 26 * 3_600_000);
      const { service, sent } = aJudge(clock);
      // Narrow hours take days of them.
      const onGate = async () => clock.advance(13 * 60_000);
      expect((await aRun({ made, service, deps: { clock }, onGate })).end.reason).toBe('finished');
      expect(new Set(sent.map((each) => each.to)).size).toBe(ROWS);
      expect(sent).toHaveLength(ROWS);
      const shown = sent.map(({ atMs }) => clockOf(zone, atMs).slice(11));
      expect(shown.filter((time) => time < from || time >= to)).toEqual([]);
    },
  );

  it('a clock that is set back and forward while it is sent lets nothing leave outside, and no row twice', async () => {
    const made = await aNight(zone, ['00:30', '05:00'], 'stop');
    const clock = aFakeClock(Date.parse(at) - 3 * 3_600_000);
    const { service, sent } = aJudge(clock);
    const JUMPS = [-3_600_000, 5_400_000, 600_000, -1_800_000, 300_000, 7_200_000, -600_000];
    let gates = 0;
    const onGate = async () => {
      clock.advance(JUMPS[gates % JUMPS.length] ?? 0);
      gates += 1;
    };
    for (let epoch = 1; epoch < 40 && sent.length < ROWS; epoch += 1) {
      await aRun({ made, service, deps: { clock }, onGate, epoch });
      clock.advance(1_800_000);
    }
    const shown = sent.map(({ atMs }) => clockOf(zone, atMs).slice(11));
    expect(shown.filter((time) => time < '00:30' || time >= '05:00')).toEqual([]);
    expect(new Set(sent.map((each) => each.to)).size).toBe(sent.length);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: sent.length, inDoubt: 0 });
    expect(sent.length).toBeGreaterThan(0);
  });
});
