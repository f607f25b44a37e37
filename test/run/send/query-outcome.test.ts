import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../src/journal/entry-format.js';
import { StopSwitch } from '../../../src/run/stop.js';
import type { Call } from '../../../src/service/transport.js';
import { someLimits } from '../../plan/a-plan.js';
import { LOST as LOCK_LOST, lostAtGate } from '../a-lost-lock.js';
import { duplicatesAmong, failure, response, untilAborted } from '../a-run.js';
import { aCheck, aCheckPlan, applyScript, aSession, hasCode } from '../a-verification-run.js';

const LOST = failure(true);
const BAD_GATEWAY = response(502, 'down');
const UNREADABLE = response(200, {});

const is = (status: string, attempt: number) => (call: Call) => aSession(call, status, attempt);
const lost = () => LOST;
type Answering = ReturnType<typeof is> | typeof lost;

/** The service as a list of answers, the last one indefinitely. */
function inTurn(...answers: Answering[]): (call: Call) => ReturnType<Answering> {
  const left = [...answers];
  return (call) => ((left.length > 1 ? left.shift() : left[0]) ?? lost)(call);
}

describe('check whose outcome is unknown', () => {
  it.each([
    ['accepted', is('VERIFIED', 0), { accepted: 1 }],
    ['rejected', is('FAILED', 5), { rejected: 1 }],
    ['in doubt', is('WAITING', 1), { inDoubt: 1 }],
    ['in doubt', is('WAITING', 0), { inDoubt: 1 }],
  ])('is %s by its status, and is not sent again', async (_, answer, balance) => {
    const { summary, sent } = await applyScript(await aCheckPlan(['s1']), inTurn(lost, answer));

    expect(sent).toEqual(['s1?code=1234', 's1']);
    expect(summary.balance).toMatchObject(balance);
  });

  it('is asked for three times, a second and two seconds apart, and is then in doubt', async () => {
    const { summary, sent, passedMs } = await applyScript(await aCheckPlan(['s1']), lost);

    expect(sent).toEqual(['s1?code=1234', 's1', 's1', 's1']);
    expect(passedMs).toBeGreaterThanOrEqual(3000);
    expect(summary.balance).toMatchObject({ inDoubt: 1 });
  });

  it('counts as a bad answer where the session waits: the run stops, and no code was sent twice', async () => {
    const made = await aCheckPlan(sessions(20));
    const checks: string[] = [];
    const { end, summary } = await applyScript(made, (call) => {
      if (!hasCode(call)) return aSession(call, 'WAITING', 0);
      if (checks.push(call.path) > 20) throw new Error('It never stops');
      return BAD_GATEWAY;
    });

    expect(end).toEqual({ reason: 'unavailable', detail: 'HTTP 502' });
    expect(duplicatesAmong(checks)).toEqual([]);
    expect(checks.length).toBeLessThan(10);
    expect(summary.balance).toMatchObject({ inDoubt: checks.length, unprocessed: 20 - checks.length });
  });

  it('is not asked for without the lock, and stays open: the next run asks', async () => {
    const made = await aCheckPlan(['s1']);
    const calls: string[] = [];
    const answer = (call: Call) => {
      calls.push(call.path);
      return hasCode(call) ? LOST : aSession(call, 'VERIFIED', 0);
    };

    await expect(applyScript(made, answer, lostAtGate(2))).rejects.toBe(LOCK_LOST);
    expect(calls).toHaveLength(1);
    const { summary, sent } = await applyScript(made, answer, { epoch: 2 });

    expect(sent).toEqual(['s1']);
    expect(summary.balance).toMatchObject({ accepted: 1 });
  });

  it('is the only one of its session: what another code did to it is not taken for its own', async () => {
    const made = await aCheckPlan(['s1:0000', 's1:1234']);
    const { summary, sent } = await applyScript(made, (call) => (hasCode(call) ? LOST : aSession(call, 'WAITING', 1)));

    expect(sent).toEqual(['s1?code=0000', 's1']);
    expect(summary.balance).toMatchObject({ inDoubt: 1, skipped: 1 });
  });
});

describe('read of a status whose answer was bad', () => {
  const readPlan = () => aCheckPlan(['s1'], aCheck({ code: undefined }));

  it.each([
    ['WAITING', 2],
    ['FAILED', 5],
    ['EXPIRED', 0],
  ])('is accepted with what the next read finds: %s', async (status, attempt) => {
    const { summary, reasons } = await applyScript(
      await readPlan(),
      inTurn(() => UNREADABLE, is(status, attempt)),
    );

    expect(summary.balance).toMatchObject({ accepted: 1 });
    expect(reasons).toEqual([expect.stringContaining(`The session is ${status}`)]);
  });

  it('is accepted after a process that died, however often it has to be repeated', async () => {
    const made = await readPlan();
    await dieInFlight(made);

    const { summary, sent } = await applyScript(made, inTurn(lost, lost, lost, lost, is('FAILED', 5)), { epoch: 2 });

    expect(sent).toEqual(Array(5).fill('s1'));
    expect(summary.balance).toMatchObject({ accepted: 1 });
  });
});

describe('check that cannot be asked for, as the service turns the run away', () => {
  it('keeps its intent, the run stops, and the next one asks', async () => {
    const made = await aCheckPlan(['s1']);
    await dieInFlight(made);

    const turned = await applyScript(made, () => response(401, {}), { epoch: 2 });

    expect(turned).toMatchObject({ end: { reason: 'unauthorized' }, summary: { balance: { inDoubt: 1 } } });
    const next = await applyScript(made, is('VERIFIED', 0), { epoch: 3 });
    expect(next.summary.balance).toMatchObject({ accepted: 1, inDoubt: 0 });
  });

  it('stops the run also where the check itself was redirected and its session tells', async () => {
    const made = await aCheckPlan(['s1', 's2', 's3', 's4', 's5', 's6']);
    const answer = (call: Call) => (hasCode(call) ? response(303, {}) : aSession(call, 'VERIFIED', 0));

    const { end, summary } = await applyScript(made, answer);

    expect(end.reason).toBe('redirected');
    expect(summary.balance.accepted).toBeGreaterThan(0);
    expect(summary.balance.unprocessed).toBeGreaterThan(0);
  });
});

describe('check that is in flight when the run stops', () => {
  const CHECKED = ['s1?code=1234'];

  it.each([
    ['gets no answer until it is no longer awaited', LOST],
    ['gets an answer that says nothing', BAD_GATEWAY],
    ['gets an answer that cannot be read', UNREADABLE],
  ])('keeps its intent where it %s, and the next run asks what became of it', async (_, answer) => {
    const stop = new StopSwitch();
    const made = await aCheckPlan(['s1', 's2', 's3']);
    const stopAndAnswer = () => {
      stop.request('interrupted', 'SIGTERM');
      stop.abandon();
      return answer;
    };
    const { end, sent, entries, summary } = await applyScript(made, stopAndAnswer, { stop });

    expect(end).toEqual({ reason: 'interrupted', detail: 'SIGTERM' });
    expect(sent).toEqual(CHECKED);
    expect(entriesOfFirst(entries)).toEqual(['intent']);
    // Until it is asked for, it is in doubt.
    expect(summary).toMatchObject({ exitCode: 75, balance: { read: 3, inDoubt: 1, unprocessed: 2 } });

    const next = await applyScript(made, is('VERIFIED', 0), { epoch: 2 });

    expect(next).toMatchObject({ sent: ['s1', 's2?code=1234', 's3?code=1234'], end: { reason: 'finished' } });
    expect(next.summary.balance).toMatchObject({ accepted: 3, inDoubt: 0, unprocessed: 0 });
  });

  it('is settled where it is answered in time', async () => {
    const stop = new StopSwitch();
    const made = await aCheckPlan(['s1', 's2']);
    const answer = (call: Call) => {
      stop.request('interrupted', 'SIGTERM');
      return aSession(call, 'VERIFIED', 0);
    };
    const { sent, summary } = await applyScript(made, answer, { stop });

    expect(sent).toEqual(CHECKED);
    expect(summary.balance).toMatchObject({ accepted: 1, unprocessed: 1 });
  });

  it.each([
    ['while it is being asked for', 'read'],
    ['while the question waits for its turn', 'gate'],
  ])('%s keeps its intent too', async (_, moment) => {
    const stop = new StopSwitch();
    const made = await aCheckPlan(['s1']);
    let gates = 0;
    const onGate = async () => {
      gates += 1;
      // The look, the check, the question.
      if (moment === 'gate' && gates === 3) stop.request('interrupted', 'SIGTERM');
    };
    const answer = (call: Call) => {
      if (!hasCode(call) && moment === 'read') stop.request('interrupted', 'SIGTERM');
      return LOST;
    };
    const { entries, sent } = await applyScript(made, answer, { stop, onGate });

    expect(entriesOfFirst(entries)).toEqual(['intent']);
    expect(sent).toEqual(moment === 'gate' ? CHECKED : [...CHECKED, 's1']);
    expect((await applyScript(made, is('FAILED', 5), { epoch: 2 })).summary.balance).toMatchObject({ rejected: 1 });
  });

  it('with many others leaves the next run going, also when every session waits', async () => {
    const stop = new StopSwitch();
    const step = aCheck({ limits: someLimits({ concurrency: 8 }) });
    const made = await aCheckPlan(sessions(10), step);
    let checks = 0;
    const answer = async (call: Call, signal: AbortSignal | undefined) => {
      checks += 1;
      // The first goes alone.
      if (checks === 1) return is('VERIFIED', 0)(call);
      if (checks === 10) {
        stop.request('interrupted', 'SIGTERM');
        stop.abandon();
      }
      await untilAborted(signal);
      return LOST;
    };
    await applyScript(made, answer, { stop });

    const { end, sent, summary } = await applyScript(made, is('WAITING', 0), { epoch: 2 });

    expect(sent.toSorted()).toEqual(sessions(10).slice(1).toSorted());
    expect(end.reason).toBe('finished');
    expect(summary.balance).toMatchObject({ inDoubt: 9 });
  });
});

function entriesOfFirst(entries: readonly JournalEntry[]): string[] {
  return entries.flatMap((entry) => ('request' in entry && entry.request === 1 ? [entry.type] : []));
}

function sessions(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `s${index + 1}`);
}

/** Applies the plan until its first request is under way, and no further: as a process that is killed. */
async function dieInFlight(made: Awaited<ReturnType<typeof aCheckPlan>>): Promise<void> {
  const died = new Error('the process died');
  await expect(applyScript(made, () => Promise.reject(died))).rejects.toBe(died);
}
