import { describe, expect, it } from 'vitest';
import type { Step, VerificationCheckStep, VerificationStartStep } from '../../src/job/job.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { aNumber, anInput, aPlan, someLimits } from '../plan/a-plan.js';
import { aRun, entriesOf, failure, reportOf, response } from './a-run.js';

const START: VerificationStartStep = {
  kind: 'verification.start',
  input: anInput(),
  destination: 'mobile',
  brand: undefined,
  template: undefined,
  source: undefined,
  codeLength: undefined,
  codeValidity: undefined,
  resendingInterval: 10,
  resetSession: undefined,
  whenTooEarly: 'wait',
  duplicates: 'skip',
  limits: someLimits({ concurrency: 1 }),
};

const CHECK: VerificationCheckStep = {
  kind: 'verification.check',
  input: anInput({ files: ['codes.csv'] }),
  session: 'sessionId',
  code: 'code',
  limits: someLimits({ concurrency: 1 }),
};

const TOO_EARLY = response(403, { code: 1400, message: 'Resending interval' });

describe('number that may not be sent to again yet', () => {
  it('waits for its time while the others are sent to, and then gets its code', async () => {
    const sent: string[] = [];
    const { summary, lane, passedMs } = await runScript(START, (call) => {
      const { destination } = JSON.parse(String(call.body));
      sent.push(destination);
      return destination === aNumber(0) && sent.length === 1 ? TOO_EARLY : aSession(destination);
    });

    expect(sent.toSorted()).toEqual([aNumber(0), aNumber(0), aNumber(1), aNumber(2)]);
    // The others do not wait with it.
    expect(lane.pausesMs).toEqual([]);
    expect(passedMs).toBe(10_000);
    expect(summary.balance).toMatchObject({ accepted: 3, rejected: 0, inDoubt: 0 });
  });

  it('waits as long as the service asks for, where it does', async () => {
    let count = 0;
    const { passedMs } = await runScript(START, (call) => {
      count += 1;
      const early = response(403, { code: 1400, message: 'Resending interval' }, { 'retry-after': '4' });
      return count === 1 ? early : aSession(JSON.parse(String(call.body)).destination);
    });

    expect(passedMs).toBe(4000);
  });

  it('is rejected at last when its time never comes', async () => {
    const { summary, sent } = await runScript(START, (call) => {
      const { destination } = JSON.parse(String(call.body));
      return destination === aNumber(1) ? TOO_EARLY : aSession(destination);
    });

    expect(summary.balance).toMatchObject({ accepted: 2, rejected: 1 });
    expect(summary.steps[0]?.rejections).toEqual({ '1400': 1 });
    expect(sent).toHaveLength(2 + 6);
  });
});

describe('check whose outcome is unknown', () => {
  const lost = failure(true);
  const session = (status: string, attempt: number) => response(200, { uid: 's1', status, attempt });
  const runCheck = (...answers: Answer[]) => {
    const left = [...answers];
    return runScript(CHECK, () => left.shift() ?? lost, { 'codes.csv': 'sessionId,code\ns1,1234\n' });
  };
  const CODE = '/api/v2/subaccounts/acme_hq/sessions/s1?code=1234';
  const READ = '/api/v2/subaccounts/acme_hq/sessions/s1';

  it.each([
    ['accepted', session('VERIFIED', 0), { accepted: 1 }],
    ['rejected', session('FAILED', 5), { rejected: 1 }],
    ['in doubt', session('WAITING', 1), { inDoubt: 1 }],
  ])('is %s as its status tells', async (_, answer, balance) => {
    const { summary, sent } = await runCheck(lost, answer);

    expect(sent).toEqual([CODE, READ]);
    expect(summary.balance).toMatchObject(balance);
  });

  it('is sent again where the status tells that the code was not looked at', async () => {
    const { summary, sent } = await runCheck(lost, session('WAITING', 0), session('VERIFIED', 0));

    expect(sent).toEqual([CODE, READ, CODE]);
    expect(summary.balance).toMatchObject({ accepted: 1 });
  });

  it('is asked for three times, a second and two seconds apart, and is then in doubt', async () => {
    const { summary, sent, passedMs } = await runCheck(lost, lost, lost, lost);

    expect(sent).toEqual([CODE, READ, READ, READ]);
    expect(passedMs).toBeGreaterThanOrEqual(3000);
    expect(summary.balance).toMatchObject({ inDoubt: 1 });
  });

  it('is asked for, and not sent, when the process died before the answer', async () => {
    const made = await aPlan({ job: { steps: [CHECK] }, files: { 'codes.csv': 'sessionId,code\ns1,1234\n' } });
    const died = new Error('the process died');
    const dying = { transport: { send: () => Promise.reject(died), close: async () => {} } };
    await expect(aRun({ made, service: dying })).rejects.toBe(died);
    expect(entriesOf(made.disk, made.directory).map(({ type }) => type)).toEqual(['open', 'intent']);

    const sent: string[] = [];
    const send = async ({ path }: Call) => {
      sent.push(path);
      return session('VERIFIED', 0);
    };
    await aRun({ made, service: { transport: { send, close: async () => {} } }, epoch: 2 });

    expect(sent).toEqual([READ]);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 1 });
  });
});

function aSession(destination: string): Answer {
  return response(200, { sessionID: `s${destination}`, destination, status: 'WAITING', attempt: 0 });
}

/** Applies a job of one step with a service that answers as `answer` says; tells every path that was called. */
async function runScript(
  step: Step,
  answer: (call: Call) => Answer,
  files: Record<string, string> = {
    'people.csv': `mobile\n${[0, 1, 2].map((index) => `${aNumber(index)}\n`).join('')}`,
  },
) {
  const made = await aPlan({ job: { steps: [step] }, files });
  const sent: string[] = [];
  const transport = {
    send: async (call: Call) => {
      sent.push(call.path);
      await Promise.resolve();
      return answer(call);
    },
    close: async () => {},
  };
  const { lane } = await aRun({ made, service: { transport } });
  const entries = entriesOf(made.disk, made.directory);
  const at = entries.flatMap((entry) => ('at' in entry ? [entry.at] : []));
  const passedMs = Math.max(...at) - Math.min(...at);
  return { summary: await reportOf(made), sent, lane, passedMs };
}
