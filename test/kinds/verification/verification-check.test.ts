import { describe, expect, it } from 'vitest';
import { verificationCheckKind } from '../../../src/kinds/verification/verification-check.js';
import { aService } from '../../plan/a-plan.js';
import { aCheck } from '../../run/a-verification-run.js';
import { aPart, aResponse, told } from '../a-part.js';
import { bodyOf, planRows } from '../a-row.js';

const CODE_BODY = Buffer.from('{"sessionId":"s1","code":"1234"}');
const READ_BODY = Buffer.from('{"sessionId":"s1"}');

describe('row of a check', () => {
  const plan = (...cells: string[]) => bodyOf(planRows(aCheck(), ['sessionId', 'code'], cells)[0]);

  it('holds session and code without the blanks around them', () => {
    expect(plan(' s1 ', ' 012345 ')).toEqual({ sessionId: 's1', code: '012345' });
  });

  it.each([
    ['', '1234', 'sessionId', 'missing-value'],
    ['../s1', '1234', 'sessionId', 'bad-session-id'],
    ['s1', '', 'code', 'missing-value'],
    ['s1', '12', 'code', 'bad-code'],
    ['s1', '12 34', 'code', 'bad-code'],
    ['s1', '12345678901', 'code', 'bad-code'],
  ])('with session "%s" and code "%s" is rejected for its %s: %s', (session, code, field, why) => {
    expect(plan(session, code)).toEqual([field, why, expect.any(String)]);
  });

  it('of an output of Volley holds the number of its session too, which its results say where no answer does', () => {
    const columns = ['_sessionId', '_destination', 'code'];
    const rows = [
      ['s1', '+6590000001', '1234'],
      ['s2', ' 6590000002', '1234'],
      ['s3', '6.59E+09', '1234'],
    ];
    const plans = planRows(aCheck({ session: '_sessionId' }), columns, ...rows);
    expect(plans.map(bodyOf)).toEqual([
      { sessionId: 's1', code: '1234', destination: '+6590000001' },
      { sessionId: 's2', code: '1234', destination: '+6590000002' },
      { sessionId: 's3', code: '1234' },
    ]);
    const facts = plans[0]?.kind === 'planned' ? plans[0].facts : [];
    const row = { planId: 'planplanplan', step: 1, index: 0, facts };
    expect(verificationCheckKind.resultCells(row, undefined)).toEqual(['s1', '+6590000001', '', '', '', '']);
  });

  it('of a session that stands in an earlier row is skipped with that row, however the id is written', () => {
    const rows = [
      ['s-1', '0000'],
      ['S1', '1234'],
      ['s2', '1234'],
      [' s-1', '0000'],
    ];
    const plans = planRows(aCheck(), ['sessionId', 'code'], ...rows);
    const skip = { code: 'duplicate', reason: 'The same session stands in row 1, which is the one used' };
    expect(plans.map(({ kind }) => kind)).toEqual(['planned', 'skipped', 'planned', 'skipped']);
    expect([plans[1], plans[3]].map(bodyOf)).toEqual([skip, skip]);
  });

  it('is kept where the earlier row of its session has no code that could be sent', () => {
    const rows = [
      ['s1', ''],
      ['s1', '1234'],
    ];
    expect(planRows(aCheck(), ['sessionId', 'code'], ...rows).map(({ kind }) => kind)).toEqual(['rejected', 'planned']);
  });

  it('needs no code where the step only reads', () => {
    const [row] = planRows(aCheck({ code: undefined }), ['sessionId'], ['s1']);
    expect(bodyOf(row)).toEqual({ sessionId: 's1' });
  });
});

describe('request of a check', () => {
  it('carries the code in its query; a read has none', () => {
    const expected = { method: 'GET', path: '/api/v2/subaccounts/acme_hq/sessions/s1?code=1234' };
    expect(verificationCheckKind.call(aService(), CODE_BODY, [])).toMatchObject(expected);
    expect(verificationCheckKind.call(aService(), READ_BODY, []).path).toBe('/api/v2/subaccounts/acme_hq/sessions/s1');
  });

  it('may be repeated as a read, and not with a code', () => {
    expect(verificationCheckKind.isRepeatable(aCheck({ code: undefined }))).toBe(true);
    expect(verificationCheckKind.isRepeatable(aCheck())).toBe(false);
  });

  it('is settled by a read, which has no code', () => {
    expect(verificationCheckKind.outcomeQuery?.call(aService(), CODE_BODY).path).toBe(
      '/api/v2/subaccounts/acme_hq/sessions/s1',
    );
  });
});

describe('answer to a check', () => {
  const read = (answer: object, body = CODE_BODY) =>
    told(
      verificationCheckKind.readOutcomes(aResponse({ uid: 's1', attempt: 1, ...answer }), aPart({ count: 1 }), body),
    );

  it.each([
    ['VERIFIED', 'accepted'],
    ['WAITING', 'rejected'],
    ['FAILED', 'rejected'],
    ['EXPIRED', 'rejected'],
  ])('%s with a code is %s', (status, verdict) => {
    expect(read({ status })).toEqual([[`${verdict} ${status}`, '1', '']]);
  });

  it('with a status that no one knows is in doubt', () => {
    expect(read({ status: 'PARKED' })[0]?.[0]).toBe('in-doubt unknown-status');
  });

  it.each([
    [0, 0, 'in-doubt unreadable-answer'],
    [0, 1, 'rejected WAITING'],
    [2, 2, 'in-doubt unreadable-answer'],
    [2, 3, 'rejected WAITING'],
  ])('that waits with %d wrong attempts before the code and %d behind it is %s', (seen, attempt, expected) => {
    const response = aResponse({ uid: 's1', status: 'WAITING', attempt });
    const { verdicts } = verificationCheckKind.readOutcomes(response, aPart({ count: 1, seen }), CODE_BODY);
    expect(verdicts.map(({ status, code }) => `${status} ${code}`)).toEqual([expected]);
  });

  it.each(['VERIFIED', 'WAITING', 'FAILED', 'EXPIRED', 'PARKED'])(
    '%s without a code is accepted: it was asked for',
    (status) => {
      expect(read({ status }, READ_BODY)[0]?.[0]).toBe(`accepted ${status}`);
    },
  );

  it('about another session is in doubt', () => {
    expect(read({ uid: 's2', status: 'VERIFIED' })).toEqual([['in-doubt unreadable-answer']]);
  });

  it('about the session of another number than the row says is in doubt', () => {
    const ofNumber = (body: Buffer) =>
      Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), destination: '+6590000001' }));
    for (const body of [CODE_BODY, READ_BODY].map(ofNumber)) {
      expect(read({ status: 'VERIFIED', destination: 6590000002 }, body)).toEqual([['in-doubt contradiction']]);
      expect(read({ status: 'VERIFIED', destination: 6590000001 }, body)).toEqual([
        ['accepted VERIFIED', '1', '', '+6590000001', ''],
      ]);
      expect(read({ status: 'VERIFIED' }, body)).toEqual([['accepted VERIFIED', '1', '']]);
    }
  });
});

describe('status that is asked for after a lost answer', () => {
  const settle = (answer: object, body = CODE_BODY) =>
    verificationCheckKind.outcomeQuery?.readOutcomes(aResponse({ uid: 's1', ...answer }), aPart({ count: 1 }), body);

  it.each([
    [{ status: 'VERIFIED', attempt: 1 }, 'accepted VERIFIED', '1'],
    [{ status: 'FAILED', attempt: 5 }, 'rejected FAILED', '5'],
    [{ status: 'EXPIRED', attempt: 0 }, 'rejected EXPIRED', '0'],
    [{ status: 'WAITING', attempt: 2 }, 'in-doubt no-answer', '2'],
    // The check may only be late: that no attempt is counted proves nothing.
    [{ status: 'WAITING', attempt: 0 }, 'in-doubt no-answer', '0'],
    [{ status: 'WAITING' }, 'in-doubt no-answer', ''],
    [{ status: 'PARKED', attempt: 0 }, 'in-doubt unknown-status', '0'],
  ])('%j settles the row: %s', (answer, verdict, attempts) => {
    const settled = settle(answer);
    expect(settled && told(settled)).toEqual([[verdict, attempts, '']]);
  });

  it('VERIFIED says that the session is, and nothing of the code', () => {
    const [verdict] = settle({ status: 'VERIFIED', attempt: 1 })?.verdicts ?? [];
    expect(verdict?.reason).toBe('The session is verified; the answer to this code was lost');
  });

  it.each(['VERIFIED', 'WAITING', 'FAILED', 'EXPIRED', 'PARKED'])(
    '%s is what was asked for where there is no code',
    (status) => {
      const settled = settle({ status, attempt: 1 }, READ_BODY);
      expect(settled && told(settled)).toEqual([[`accepted ${status}`, '1', '']]);
    },
  );

  it('of another session tells nothing', () => {
    expect(settle({ uid: 's2', status: 'VERIFIED' })).toBeUndefined();
  });
});
