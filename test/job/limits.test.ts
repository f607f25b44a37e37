import { describe, expect, test } from 'vitest';
import { ceilings, defaultLimits } from '../../src/job/limits.js';

describe('ceilings', () => {
  test('are the published ones where the service publishes any', () => {
    expect(ceilings.sms).toMatchObject({ requestsPerSecond: 1800, messagesPerSecond: 25_000 });
    expect(ceilings.chat.requestsPerSecond).toBe(5);
  });

  test.each(['sms', 'contacts'] as const)('leave room above the default limits of %s', (kind) => {
    for (const unit of ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const) {
      expect(defaultLimits[kind][unit] ?? 0).toBeLessThan(ceilings[kind][unit] ?? Number.POSITIVE_INFINITY);
    }
  });
});
