import { emptyBalance, type Summary } from '../../src/report/summary.js';

/** Of a finished run of one step; `step` changes that one, whose rows by code are those of its reasons. */
export function aSummary(changes: Partial<Summary> = {}, step: Partial<Summary['steps'][number]> = {}): Summary {
  const balance = { ...emptyBalance(), read: 1234, accepted: 1234, ...changes.balance };
  const files = { results: '1-sms.results.csv', rejections: '1-sms.rejections.csv' };
  const countBy = (output: string) =>
    Object.fromEntries(
      (step.reasons ?? []).flatMap((each) => (each.output === output ? [[each.code, each.rows]] : [])),
    );
  const codes = { rejections: countBy('rejections'), doubts: countBy('in-doubt'), notSent: countBy('unprocessed') };
  const requests = { planned: 2, settled: 2 };
  const one = { number: 1, kind: 'sms', balance, inputs: [], requests, messages: 1, segments: 1 };
  return {
    ...{ format: 1, job: 'sale', plan: 'p1', retryOf: null, directory: '/out/sale/p1', state: 'finished' },
    ...{ stop: null, startedAt: null, endedAt: null, exitCode: 0, deliveries: null },
    ...changes,
    balance,
    steps: [{ ...one, ...codes, skips: {}, reasons: [], files, action: null, ...step }],
  };
}
