import { describe, expect, test } from 'vitest';
import { KINDS, type Kind } from '../../src/domain/areas.js';
import { ceilings, defaultLimits } from '../../src/job/limits.js';

describe('ceilings', () => {
  test('are the published ones where the service publishes any', () => {
    expect(ceilings.sms).toMatchObject({ requestsPerSecond: 1800, messagesPerSecond: 25_000 });
    expect(ceilings.chat.requestsPerSecond).toBe(5);
  });

  test.each(Object.entries(KINDS))('leave room above the default limits of %s', (kind, { area }) => {
    for (const unit of ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const) {
      expect(defaultLimits[kind as Kind][unit] ?? 0).toBeLessThan(ceilings[area][unit] ?? Number.POSITIVE_INFINITY);
    }
  });
});
