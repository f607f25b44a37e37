import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { aNumber, aService } from '../plan/a-plan.js';
import { response } from '../run/a-run.js';
import { applyScript, aStart, aStartPlan } from '../run/a-verification-run.js';

const tooEarly = (headers: Record<string, string> = {}) =>
  response(403, { code: 1400, message: 'Resending interval' }, headers);

describe('number that may not be sent to again yet', () => {
  it('waits for its time while the others are sent to, and then gets its code', async () => {
    const sent: string[] = [];
    const { summary, lane, passedMs } = await applyScript(await aStartPlan(), (call) => {
      const destination = destinationOf(call);
      sent.push(destination);
      return destination === aNumber(0) && sent.length === 1 ? tooEarly() : aStarted(call);
    });

    expect(sent.toSorted()).toEqual([aNumber(0), aNumber(0), aNumber(1), aNumber(2)]);
    // The others do not wait with it.
    expect(lane.pausesMs).toEqual([]);
    expect(passedMs).toBe(10_000);
    expect(summary.balance).toMatchObject({ accepted: 3, rejected: 0, inDoubt: 0 });
  });

  it.each(['4', '900'])('waits as long as the service asks for, where it does: %s s', async (seconds) => {
    let count = 0;
    const { summary, passedMs } = await applyScript(await aStartPlan(), (call) => {
      count += 1;
      return count === 1 ? tooEarly({ 'retry-after': seconds }) : aStarted(call);
    });

    expect(passedMs).toBe(Number(seconds) * 1000);
    expect(summary.balance).toMatchObject({ accepted: 3 });
  });

  it.each([
    ['901', 'the next SMS is allowed in 901 s'],
    ['9999999999999', 'the next SMS is allowed in 9007199254741 s'],
  ])('is rejected at once when it would have to wait for longer than the run tries: %s s', async (seconds, why) => {
    const job = { service: aService({ giveUpAfterSeconds: 900 }) };
    const answer = (call: Call) =>
      destinationOf(call) === aNumber(1) ? tooEarly({ 'retry-after': seconds }) : aStarted(call);
    const { end, summary, sent, passedMs, reasons } = await applyScript(await aStartPlan(), answer, { job });

    expect(end.reason).toBe('finished');
    expect(sent).toHaveLength(3);
    expect(passedMs).toBe(0);
    expect(summary.balance).toMatchObject({ accepted: 2, rejected: 1 });
    expect(reasons).toContain(`Resending interval (${why}, longer than giveUpAfterSeconds, 900 s)`);
  });

  it('is rejected where the job does not wait, also when the time has no date', async () => {
    const made = await aStartPlan(aStart({ whenTooEarly: 'reject' }));
    const { end, summary } = await applyScript(made, (call) =>
      destinationOf(call) === aNumber(1) ? tooEarly({ 'retry-after': '9999999999999' }) : aStarted(call),
    );

    expect(end.reason).toBe('finished');
    expect(summary.balance).toMatchObject({ accepted: 2, rejected: 1 });
    expect(summary.steps[0]?.rejections).toEqual({ '1400': 1 });
  });

  it('is rejected at last when its time never comes', async () => {
    const { summary, sent } = await applyScript(await aStartPlan(), (call) =>
      destinationOf(call) === aNumber(1) ? tooEarly() : aStarted(call),
    );

    expect(summary.balance).toMatchObject({ accepted: 2, rejected: 1 });
    expect(summary.steps[0]?.rejections).toEqual({ '1400': 1 });
    expect(sent).toHaveLength(2 + 6);
  });
});

function destinationOf({ body }: Call): string {
  return JSON.parse(String(body)).destination;
}

function aStarted(call: Call): Answer {
  const destination = destinationOf(call);
  return response(200, { sessionID: `s${destination}`, destination, status: 'WAITING', attempt: 0 });
}
