import { describe, expect, it } from 'vitest';
import type { VerificationStartStep } from '../../../src/job/job.js';
import { verificationStartKind } from '../../../src/kinds/verification/verification-start.js';
import { aStart } from '../../run/a-verification-run.js';
import { aPart, aResponse, told } from '../a-part.js';
import { bodyOf, planRows } from '../a-row.js';

const plan = (step: Partial<VerificationStartStep>, ...rows: (string | undefined)[][]) =>
  planRows(aStart(step), ['mobile', 'land'], ...rows);

describe('session that is asked for', () => {
  it('is for the number in E.164, and says only what the job says', () => {
    expect(plan({}, ['9000 0001']).map(bodyOf)).toEqual([{ destination: '+6590000001', resendingInterval: 10 }]);
  });

  it('has brand, text, lengths and sender as the service names them', () => {
    const step = { brand: 'ACME', template: '{brand}: {code}', source: 'ACME', codeLength: 6, codeValidity: 600 };
    expect(bodyOf(plan({ ...step, resetSession: true }, ['90000001'])[0])).toEqual({
      destination: '+6590000001',
      brand: 'ACME',
      template: '{brand}: {code}',
      codeLength: 6,
      codeValidity: 600,
      resendingInterval: 10,
      resetSession: true,
      sms: { source: 'ACME' },
    });
  });

  it('is not made for a value that is not a number: the row is rejected with its column', () => {
    expect(bodyOf(plan({}, ['12'])[0])).toMatchObject(['mobile', 'not-a-number', expect.any(String)]);
  });

  it('is made once for a number that comes twice, unless duplicates are kept', () => {
    const rows = [['90000001'], ['+65 9000 0001']];
    expect(plan({}, ...rows).map(({ kind }) => kind)).toEqual(['planned', 'skipped']);
    expect(bodyOf(plan({}, ...rows)[1])).toMatchObject({ code: 'duplicate', reason: expect.stringContaining('row 1') });
    expect(plan({ duplicates: 'keep' }, ...rows).map(({ kind }) => kind)).toEqual(['planned', 'planned']);
  });

  it('is never asked for twice after a lost answer', () => {
    expect(verificationStartKind.isRepeatable(aStart())).toBe(false);
    expect(verificationStartKind.outcomeQuery).toBeUndefined();
  });
});

describe('answer to the start of a session', () => {
  const body = Buffer.from(JSON.stringify({ destination: '+6590000001' }));
  const read = (answer: unknown) =>
    told(verificationStartKind.readOutcomes(aResponse(answer), aPart({ count: 1 }), body));
  const session = { sessionID: 's1', destination: 6590000001, status: 'WAITING', attempt: 0 };

  it('gives session, attempt and both times', () => {
    const times = { expiresAt: '2026-11-21T12:05:00Z', retryAfter: '2026-11-21T12:00:10Z' };
    expect(read({ ...session, ...times })).toEqual([
      ['accepted WAITING', 's1', '0', '2026-11-21T12:05:00Z', '2026-11-21T12:00:10Z'],
    ]);
  });

  it.each([6590000002, '+6590000002', '6590000002'])('for another number puts the row in doubt: %j', (destination) => {
    expect(read({ ...session, destination })).toEqual([['in-doubt contradiction']]);
  });

  it.each([{}, { ...session, sessionID: undefined }, 'page'])(
    'that does not name the session of the number puts the row in doubt: %j',
    (answer) => {
      expect(read(answer)).toEqual([['in-doubt unreadable-answer']]);
    },
  );
});

describe('refusal of a start', () => {
  const NOW = Date.parse('2026-11-21T12:00:00Z');
  const tooEarly = { status: 403, code: '1400', message: 'Resending interval', retryAfterMs: undefined };
  const mean = (step: Partial<VerificationStartStep>, refusal = {}) =>
    verificationStartKind.readRefusal?.({ ...tooEarly, ...refusal }, aStart(step), NOW);

  it('because a number was sent to a moment ago is tried again when its interval is over', () => {
    expect(mean({ resendingInterval: 30 })).toMatchObject({ kind: 'deferred', delayMs: 30_000 });
    expect(mean({ resendingInterval: 30 }, { retryAfterMs: 4000 })).toMatchObject({ kind: 'deferred', delayMs: 4000 });
  });

  it('is final with the time, where the job does not wait', () => {
    const reason = 'The number got a code a moment ago; the next is allowed by 2026-11-21T12:00:30.000Z';
    expect(mean({ resendingInterval: 30, whenTooEarly: 'reject' })).toEqual({ kind: 'final', code: '1400', reason });
  });

  it('is final without a time, where the wait that is asked for has no end that could be written', () => {
    expect(mean({ whenTooEarly: 'reject' }, { retryAfterMs: Number.MAX_SAFE_INTEGER })).toEqual({
      kind: 'final',
      code: '1400',
      reason: 'The number got a code a moment ago; the service asks for a wait that is too long to be a date',
    });
  });

  it('for any other reason is final with the message of the service', () => {
    const expected = { kind: 'final', code: '1002', reason: 'Invalid MSISDN' };
    expect(mean({}, { status: 400, code: '1002', message: 'Invalid MSISDN' })).toEqual(expected);
  });
});
