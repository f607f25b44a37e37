import { describe, expect, it } from 'vitest';
import { exitCodeOf, type RunEnd } from '../../src/report/exit-code.js';
import { emptyBalance } from '../../src/report/summary.js';

const FAIL_ON = ['rejections', 'in-doubt', 'nothing'] as const;
const codes = (reason: RunEnd['reason'], changes = {}, actions: RunEnd['actions'] = []) =>
  FAIL_ON.map((failOn) => exitCodeOf({ reason, balance: { ...emptyBalance(), ...changes }, actions }, failOn));

it.each<[string, object, number[]]>([
  ['every row accepted', { read: 1, accepted: 1 }, [0, 0, 0]],
  ['nothing read', {}, [0, 0, 0]],
  ['rows skipped', { skipped: 1 }, [0, 0, 0]],
  ['rows rejected', { rejected: 1 }, [1, 0, 0]],
  ['rows that were in doubt, and are known not to have been sent', { unprocessed: 1 }, [1, 0, 0]],
  ['rows in doubt', { inDoubt: 1 }, [3, 3, 0]],
  ['rows rejected and in doubt', { rejected: 1, inDoubt: 1 }, [3, 3, 0]],
])('exit code of a finished run with %s', (_what, balance, expected) => {
  expect(codes('finished', balance)).toEqual(expected);
});

it.each<[string, object, RunEnd['actions'], number[]]>([
  ['the rest waiting', { accepted: 1, unprocessed: 9 }, [], [0, 0, 0]],
  ['rows rejected', { rejected: 1 }, [], [1, 0, 0]],
  ['rows in doubt', { inDoubt: 1 }, [], [3, 3, 0]],
  ['a call in doubt', {}, [{ status: 'in-doubt', code: 'no-answer', reason: '' }], [3, 3, 0]],
  ['a call rejected', {}, [{ status: 'rejected', code: '1', reason: '' }], [1, 0, 0]],
])('exit code of a sample with %s', (_what, balance, actions, expected) => {
  expect(codes('sampled', balance, actions)).toEqual(expected);
});

describe('exit code of a run that did not come to its end', () => {
  const BALANCES = [{}, { rejected: 1 }, { inDoubt: 1 }, { unprocessed: 1 }];

  it.each(['guard', 'unauthorized', 'redirected', 'refused'] as const)('is 4 for %s, whatever counts', (reason) => {
    for (const balance of BALANCES) expect(codes(reason, balance)).toEqual([4, 4, 4]);
  });

  it.each(['interrupted', 'unavailable', undefined] as const)('is 75 for %s, whatever counts', (reason) => {
    for (const balance of BALANCES) expect(codes(reason, balance)).toEqual([75, 75, 75]);
  });
});
