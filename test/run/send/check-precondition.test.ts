import { describe, expect, it } from 'vitest';
import type { Call } from '../../../src/service/transport.js';
import { failure, response } from '../a-run.js';
import { aCheck, aCheckPlan, applyScript, aSession, hasCode } from '../a-verification-run.js';

const TOLD = { precondition: 'resolved' } as const;
const LOST = failure(true);

/** Reads find a session as it is; whatever code it is given, it says how it stands. */
const service = (status: string) => (call: Call) => aSession(call, status, 0);

describe('session that is read before its code is sent', () => {
  it('gets its code where it waits', async () => {
    const answer = (call: Call) => aSession(call, hasCode(call) ? 'VERIFIED' : 'WAITING', 0);
    const { sent, summary, reasons } = await applyScript(await aCheckPlan(['s1']), answer, TOLD);

    expect(sent).toEqual(['s1', 's1?code=1234']);
    expect(summary.balance).toMatchObject({ accepted: 1 });
    expect(reasons).toEqual(['The code is right']);
  });

  it.each([
    ['VERIFIED', 'not-checked'],
    ['FAILED', 'FAILED'],
    ['EXPIRED', 'EXPIRED'],
    ['PARKED', 'not-checked'],
  ])('gets none where it was %s before: the row is rejected, as %s', async (status, code) => {
    const made = await aCheckPlan(['s1:9999', 's2']);
    const { sent, summary, reasons, entries } = await applyScript(made, service(status), TOLD);

    expect(sent.toSorted()).toEqual(['s1', 's2']);
    expect(summary).toMatchObject({ state: 'finished', exitCode: 1, balance: { rejected: 2 } });
    expect(summary.steps[0]?.rejections).toEqual({ [code]: 2 });
    expect(reasons[0]).toBe(`The session was ${status} already: this code was not checked`);
    expect(entries.filter((entry) => entry.type === 'intent')).toHaveLength(2);

    expect((await applyScript(made, service(status), { ...TOLD, epoch: 2 })).sent).toEqual([]);
  });

  it('that there is none of is rejected with the service’s own code', async () => {
    const answer = () => response(404, { code: 1300, message: 'Session not found', errorId: 'e' });
    const { summary, sent } = await applyScript(await aCheckPlan(['s1']), answer, TOLD);

    expect(sent).toEqual(['s1']);
    expect(summary.steps[0]?.rejections).toEqual({ 1300: 1 });
  });

  it.each([
    ['no answer', LOST],
    ['a bad gateway', response(502, 'down')],
    ['another session', response(200, { uid: 's9', status: 'WAITING' })],
    ['a page', response(200, 'page')],
  ])('is read again where there is %s, and gets no code while others are answered', async (_, bad) => {
    const made = await aCheckPlan(['s1', 's2', 's3', 's4', 's5']);
    const answer = (call: Call) => {
      if (call.path.includes('/s1')) return bad;
      return aSession(call, hasCode(call) ? 'VERIFIED' : 'WAITING', 0);
    };
    const { sent, summary } = await applyScript(made, answer, TOLD);

    expect(sent.filter((session) => session.startsWith('s1'))).toEqual(['s1', 's1', 's1']);
    expect(summary.balance).toMatchObject({ accepted: 4, rejected: 1, inDoubt: 0 });
    expect(summary.steps[0]?.rejections).toEqual({ 'not-checked': 1 });
  });

  it('stops the run where the service is too busy: nothing is in doubt', async () => {
    const { end, summary } = await applyScript(await aCheckPlan(['s1', 's2']), () => response(401, {}), TOLD);

    expect(end.reason).toBe('unauthorized');
    expect(summary.balance).toMatchObject({ unprocessed: 2, inDoubt: 0 });
  });

  it('is not read twice where the step sends no code', async () => {
    const made = await aCheckPlan(['s1'], aCheck({ code: undefined }));
    expect((await applyScript(made, service('VERIFIED'), TOLD)).sent).toEqual(['s1']);
  });
});
