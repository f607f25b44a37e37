import { describe, expect, test } from 'vitest';
import { isRowStep } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import { fixDates } from '../../src/job/planned-job.js';
import { DAYS_AGO } from '../../src/job/schema/written-where.js';

const JOB = (after: string) =>
  `service: { sandbox: true }
steps:
  - kind: sms
    input: { files: people.csv, where: { last: { after: "${after}" }, tag: vip } }
    destination: mobile
    template: { source: ACME, text: Hi }
`;

/** By the calendar of the host, whatever its zone is. */
function fixed(after: string, now: Date): unknown {
  const [step] = fixDates(parseJob(JOB(after), 'sale.yaml'), now.getTime()).steps;
  return step !== undefined && isRowStep(step) ? step.input.where?.[0]?.[0]?.tests[0] : undefined;
}

describe('days before the plan are dates of it', () => {
  test.each([
    ['today', [2026, 11, 24], '2026-11-24'],
    ['1 day ago', [2026, 3, 1], '2026-02-28'],
    ['90 days ago', [2026, 11, 24], '2026-08-26'],
    ['2 weeks ago', [2026, 1, 5], '2025-12-22'],
    ['1 month ago', [2026, 3, 31], '2026-02-28'],
    ['1 month ago', [2024, 3, 31], '2024-02-29'],
    ['13 months ago', [2026, 11, 24], '2025-10-24'],
    ['1 year ago', [2024, 2, 29], '2023-02-28'],
    ['2026-01-01', [2026, 11, 24], '2026-01-01'],
    ['2026-01-01T00:00:00Z', [2026, 11, 24], '2026-01-01T00:00:00Z'],
  ] as const)('%s, on %j', (after, [year, month, day], bound) => {
    for (const hour of [0, 23])
      expect(fixed(after, new Date(year, month - 1, day, hour, 59))).toEqual({ op: 'after', bound, format: undefined });
  });

  test('are written in whole numbers of a unit', () => {
    for (const written of ['90 days ago', '1 week ago', 'today']) expect(written).toMatch(DAYS_AGO);
    for (const written of ['ago', '1 days', '1.5 days ago', 'in 3 days', '12345 days ago'])
      expect(written).not.toMatch(DAYS_AGO);
  });
});
