import { expect, test } from 'vitest';
import { describeTiming, findNight, readTiming, toTiming } from '../../src/console/timing.js';
import type { Plan } from '../../src/plan/format/plan-file.js';

const step = (template: object, more: object = {}) => ({ template: { text: 'Hi', ...template }, ...more });

test.each([
  [step({}), 'At once'],
  [
    step({ scheduled: { at: '2026-12-01 10:00', timeZone: 'Asia/Singapore' } }),
    '1 December 2026 at 10:00 Asia/Singapore (1 December 2026 at 03:00 Europe/Berlin)',
  ],
  [
    step({ scheduled: { at: '2026-12-01 02:00', timeZone: 'Asia/Singapore' } }),
    '1 December 2026 at 02:00 Asia/Singapore (30 November 2026 at 19:00 Europe/Berlin)',
  ],
  [
    step({ scheduled: { at: '2026-12-01T10:00', timeZone: 'Europe/Vienna' } }),
    '1 December 2026 at 10:00 Europe/Vienna',
  ],
  [step({ scheduled: { at: '2026-12-01 10:00', timeZone: 'Nowhere' } }), '2026-12-01 10:00 in Nowhere'],
  // The calendar has none of these.
  [step({ scheduled: { at: '2026-11-31 10:00', timeZone: 'Asia/Singapore' } }), '2026-11-31 10:00 in Asia/Singapore'],
  [step({ scheduled: { at: '2026-12-01 25:00', timeZone: 'Asia/Singapore' } }), '2026-12-01 25:00 in Asia/Singapore'],
  [
    step({}, { window: { from: '09:00', to: '20:00', outside: 'stop' } }),
    "Between 09:00 and 20:00 by each recipient's clock, mon tue wed thu fri sat",
  ],
  [
    step(
      {},
      {
        window: { from: '09:00', to: '20:00', timeZone: 'Asia/Kuala_Lumpur', days: ['mon'] },
        ramp: [{ share: '5%', ask: true }],
      },
    ),
    'Between 09:00 and 20:00 in Asia/Kuala_Lumpur, mon; 5% first, then the rest once you say so',
  ],
])('%j is said for a reader in Berlin', (written, said) => {
  const { timing, unknown } = toTiming(written);
  expect(describeTiming(timing, 'Europe/Berlin')).toBe(said);
  expect(unknown).toEqual([]);
});

test.each([
  [step({ scheduled: '2026-12-01T10:00:00+08:00' }), 'steps.template.scheduled'],
  [step({ scheduled: { at: '01.12.2026 10:00', timeZone: 'Asia/Singapore' } }), 'steps.template.scheduled'],
  [step({}, { window: { from: '09:00', to: '20:00', timeZone: { column: 'zone' } } }), 'steps.window'],
  [step({}, { window: { from: '09:00', to: '20:00', unknown: 'hold' } }), 'steps.window'],
  [step({}, { ramp: [{ share: '5%' }] }), 'steps.ramp'],
  [step({}, { ramp: [{ share: '5%', ask: true, pause: '2h' }] }), 'steps.ramp'],
  [step({}, { ramp: [{ share: '5%', ask: true }, { share: '10%' }] }), 'steps.ramp'],
])('%j has what the form cannot say', (written, key) => {
  expect(toTiming(written).unknown).toEqual([key]);
});

test('a form without anything is a campaign that leaves at once; a sample may leave out its sign', () => {
  expect(describeTiming(readTiming({}), 'UTC')).toBe('At once');
  const expected = { kind: 'window', sample: '5%', days: ['sun'] };
  expect(readTiming({ when: 'window', sample: '5', 'day-sun': 'on' })).toMatchObject(expected);
});

test.each([
  [{ SG: 3 }, '2026-11-27T15:10:00Z', '23:10 in Singapore'],
  [{ SG: 3 }, '2026-11-27T04:00:00Z', undefined],
  [{ DE: 1, SG: 3 }, '2026-11-27T06:59:00Z', '07:59 in Germany'],
  // Of several zones: those where it is night.
  [{ ID: 1 }, '2026-11-27T13:30:00Z', '22:30 in parts of Indonesia'],
])('messages to %j that leave at once at %s are said to come by night where they do', (countries, at, said) => {
  const plan = { job: { steps: [] }, steps: [{ countries }] } as unknown as Plan;
  expect(findNight(plan, Date.parse(at))).toBe(said);
  const later = { ...plan, job: { steps: [{ kind: 'sms', window: {}, template: {} }] } } as unknown as Plan;
  expect(findNight(later, Date.parse(at))).toBeUndefined();
});
