import { describe, expect, it } from 'vitest';
import { describeRunEnd } from '../../src/command/failure.js';
import type { ActionStep, CampaignStep, ChatStep } from '../../src/job/job.js';
import { StopSwitch } from '../../src/run/stop.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { aCsvOf, anSmsStep, makeAPlan, someLimits } from '../plan/a-plan.js';
import { ownError } from '../service/an-answer.js';
import { LOST, lostAtGate } from './a-lost-lock.js';
import {
  aFakeLane,
  aRun,
  aScriptedService,
  entriesOf,
  failure,
  type RunOptions,
  reportOf,
  response,
  slowFiles,
} from './a-run.js';

const CHAT: ChatStep = { kind: 'chat', text: 'done', room: undefined, when: 'always', limits: someLimits() };

function aCampaignStep(changes: Partial<CampaignStep> = {}): CampaignStep {
  const step = { kind: 'campaign', campaign: 101, expect: undefined, set: undefined, always: false } as const;
  return { ...step, limits: someLimits(), ...changes };
}

const PAUSE = aCampaignStep({ set: 'PAUSED' });
const RESUME = aCampaignStep({ set: 'RUNNING', always: true });

interface Script {
  readonly sms?: (call: Call, signal: AbortSignal | undefined) => Promise<Answer | undefined> | Answer | undefined;
  readonly other?: (call: Call, count: number) => Answer | undefined;
}

/** The service with a running campaign and a chat room; answers in their place where the script has some. */
function aService({ sms, other }: Script = {}) {
  const messages = aScriptedService();
  const changes: string[] = [];
  const posts: string[] = [];
  let status = 3;
  let count = 0;
  const send = async (call: Call, signal: AbortSignal | undefined): Promise<Answer> => {
    if (call.path.endsWith('/messages/batch'))
      return (await sms?.(call, signal)) ?? messages.transport.send(call, signal);
    count += 1;
    const given = other?.(call, count);
    if (given !== undefined) return given;
    const body = JSON.parse(call.body?.toString() ?? '{}');
    if (call.path.includes('/chat/')) {
      posts.push(body.messageRaw);
      return response(200, { parsed: body.messageRaw });
    }
    if (call.method === 'POST') {
      status = body.status === 'PAUSED' ? 8 : 3;
      changes.push(body.status);
      return response(200, { message: 'changed' });
    }
    const campaign = { 'campaign-name': 'c', 'campaign-id': 101, enabled: 'Y', 'dynamic-campaign': 'Y', status };
    return response(200, { campaign });
  };
  return { transport: { ...messages.transport, send }, changes, posts, calls: () => count };
}

async function aPlanOf(...steps: (ActionStep | ReturnType<typeof anSmsStep>)[]) {
  const { made, disk } = await makeAPlan({ files: { 'people.csv': aCsvOf(1) }, job: { steps } });
  if (made === undefined) throw new Error('there was nothing to plan');
  return { ...made, disk };
}

async function runOnce(
  made: RunOptions['made'],
  service: ReturnType<typeof aService>,
  options: Partial<RunOptions> = {},
) {
  const run = await aRun({ made, service, ...options });
  return { ...run, summary: await reportOf(made) };
}

it('step without rows that changes something is noted durably before it does', async () => {
  const made = await aPlanOf(anSmsStep(), PAUSE);
  let durable: readonly { readonly type: string }[] = [];
  const before: unknown[] = [];
  const service = aService({
    other: ({ method }) => {
      if (method === 'POST') before.push(durable.at(-1));
      return undefined;
    },
  });
  const files = slowFiles(made, () => {
    durable = entriesOf(made.disk, made.directory);
  });
  await aRun({ made, service, deps: { files } });
  expect(before).toMatchObject([{ type: 'action', step: 2 }]);
  expect(service.changes).toEqual(['PAUSED']);
});

describe('step without rows whose area cannot be reached', () => {
  const unreachable = () => aService({ other: () => failure(false, 'ECONNREFUSED') });
  const secondsOf = (pausesMs: readonly number[]) => pausesMs.reduce((sum, each) => sum + each, 0) / 1000;

  it('is tried for a minute at most where nothing relies on it, and the run ends', async () => {
    const service = unreachable();
    const { end, lane, summary } = await runOnce(await aPlanOf(anSmsStep(), CHAT), service);

    expect(service.calls()).toBeGreaterThan(3);
    expect(secondsOf(lane.pausesMs)).toBeGreaterThan(20);
    expect(secondsOf(lane.pausesMs)).toBeLessThanOrEqual(60);
    expect(end.reason).toBe('finished');
    expect(summary.steps[1]?.action).toMatchObject({ status: 'rejected', code: 'unavailable' });
  });

  it('is tried as long as the job says where the run relies on it, and the run stops', async () => {
    const { end, lane } = await runOnce(await aPlanOf(anSmsStep(), PAUSE), unreachable());

    expect(secondsOf(lane.pausesMs)).toBeGreaterThan(800);
    expect(end.reason).toBe('unavailable');
  });

  it.each<[string, Answer, string]>([
    ['refuses the connection', failure(false, 'ECONNREFUSED'), 'whatever HTTPS_PROXY says'],
    ['has another certificate', failure(false, 'CERT_ALTNAME_INVALID'), 'service.region'],
    ['is behind a page that asks to sign in', response(401, 'Sign in'), 'what stands between this machine and'],
    ['is behind a page', response(200, 'Welcome'), 'what stands between this machine and'],
    ['redirects', response(301, ''), 'check service.region or service.bases'],
    ['refuses the key itself', response(401, { message: 'Not authorized for campaign' }), 'check that key or token'],
  ])('that %s stops the run with the same advice as rows do', async (_, answer, advice) => {
    const { summary } = await runOnce(await aPlanOf(PAUSE, anSmsStep()), aService({ other: () => answer }));
    expect(describeRunEnd(summary).error?.hint).toMatch(new RegExp(advice, 'i'));
  });

  it('in doubt is not called not done', async () => {
    const { notices } = await runOnce(await aPlanOf(anSmsStep(), CHAT), aService({ other: () => response(502, '') }));
    expect(notices).toEqual([expect.stringContaining('step 2 (chat): its outcome is in doubt')]);
  });

  it('knows where the run had stopped before', async () => {
    const service = aService({
      sms: () => response(401, {}),
      other: (_, count) => (count > 2 ? response(401, {}) : undefined),
    });
    const { end, notices } = await runOnce(await aPlanOf(PAUSE, anSmsStep(), RESUME), service);

    expect(end.reason).toBe('unauthorized');
    expect(notices.join()).toContain('Not done: step 3 (campaign)');
    expect(service.changes).toEqual(['PAUSED']);
  });
});

describe('step without rows that should come back in years', () => {
  /** As the real lane, a pause holds what comes after it. */
  function aLaneThatWaits(): NonNullable<RunOptions['deps']> {
    const { createLane } = aFakeLane({ advance: () => {} }, async () => {});
    let pausedMs = 0;
    return {
      createLane: (options) => {
        const lane = createLane(options);
        return {
          ...lane,
          run: (cost, task) => {
            if (pausedMs > 900_000) throw new Error(`it would wait for ${pausedMs} ms`);
            return lane.run(cost, task);
          },
          pauseFor: (delayMs) => {
            pausedMs = delayMs;
          },
          get pausedMs() {
            return pausedMs;
          },
        };
      },
    };
  }

  it('by something in between stops the run in doubt, with the answer, and does not wait to ask for its status', async () => {
    const other: Script['other'] = (call) =>
      call.method === 'POST' && !call.path.includes('/chat/')
        ? response(429, 'slow down', { 'retry-after': '1000000000' })
        : undefined;
    const service = aService({ other });
    const { summary, notices } = await runOnce(await aPlanOf(PAUSE, anSmsStep()), service, { deps: aLaneThatWaits() });
    expect([service.calls(), summary.exitCode]).toEqual([2, 4]);
    expect(summary.steps[0]?.action?.reason).toBe(
      "Cannot tell whether the call to change a campaign succeeded: HTTP 429 without the service's error body; campaign 101, which was to be PAUSED, has a status that cannot be read",
    );
    expect(notices.join()).not.toContain('waits');
  });
});

describe('step that is always to be done', () => {
  it('is done although what is in flight hangs when the time after a signal is over', async () => {
    const stop = new StopSwitch();
    const service = aService({
      sms: (_, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve(failure(true, 'abandoned')), { once: true });
          stop.request('interrupted', 'SIGTERM');
          stop.abandon();
        }),
    });
    const deps = aSlowTime().deps;
    const { end, summary } = await runOnce(await aPlanOf(PAUSE, anSmsStep(), RESUME), service, { stop, deps });

    expect(end.reason).toBe('interrupted');
    expect(service.changes).toEqual(['PAUSED', 'RUNNING']);
    expect(summary.steps[2]?.action).toMatchObject({ status: 'accepted', code: 'RUNNING' });
  });

  it('is given up half a minute after the signal where its own calls hang', async () => {
    const stop = new StopSwitch();
    const service = aService({
      sms: () => {
        stop.request('interrupted', 'SIGTERM');
        return undefined;
      },
      other: (_, count) => (count > 2 ? failure(false, 'ECONNREFUSED') : undefined),
    });
    const time = aSlowTime();
    const { end, summary } = await runOnce(await aPlanOf(PAUSE, anSmsStep(), RESUME), service, {
      stop,
      deps: time.deps,
    });

    expect(end.reason).toBe('interrupted');
    expect(summary.steps[2]?.action).toMatchObject({ status: 'rejected', code: 'not-sent' });
    expect(time.passedMs()).toBeGreaterThan(25_000);
    expect(time.passedMs()).toBeLessThan(65_000);
  });

  it('is done although a step before it failed, and the failure is reported', async () => {
    const service = aService({
      sms: () => {
        throw new RangeError('a bug of Volley');
      },
    });
    const made = await aPlanOf(PAUSE, anSmsStep(), RESUME);

    await expect(aRun({ made, service, deps: aSlowTime().deps })).rejects.toThrow('a bug of Volley');

    expect(service.changes).toEqual(['PAUSED', 'RUNNING']);
  });

  it('is done although pages came in the place of three answers to what it reads', async () => {
    const isPage = (call: Call, count: number) => count > 2 && count < 6 && call.method === 'GET';
    const service = aService({ other: (call, count) => (isPage(call, count) ? response(200, 'Sign in') : undefined) });
    const { summary } = await runOnce(await aPlanOf(PAUSE, anSmsStep(), RESUME), service);
    expect([summary.exitCode, service.changes]).toEqual([0, ['PAUSED', 'RUNNING']]);
  });

  it('leaves a campaign alone that no step before it came to', async () => {
    const service = aService({ sms: () => response(401, {}) });
    expect((await runOnce(await aPlanOf(anSmsStep(), PAUSE, RESUME), service)).end.reason).toBe('unauthorized');
    expect(service.calls()).toBe(0);
  });
});

it('message to a chat that a signal kept from being sent is not in doubt, and is posted by the next run', async () => {
  const stop = new StopSwitch();
  const made = await aPlanOf(anSmsStep(), CHAT);
  const busy = aService({
    other: () => {
      stop.request('interrupted', 'SIGTERM');
      return response(503, ownError('chat', 2000, 'Busy'), { 'retry-after': '20' });
    },
  });
  await runOnce(made, busy, { stop, deps: aSlowTime().deps });
  const acted = entriesOf(made.disk, made.directory).filter(({ type }) => type === 'acted');
  expect(acted.at(-1)).toMatchObject({ verdict: { status: 'rejected' } });
  const service = aService();
  const { summary } = await runOnce(made, service, { epoch: 2 });
  expect(service.posts).toEqual(['done']);
  expect(summary.exitCode).toBe(0);
});

describe('step without rows whose lock was lost at the gate', () => {
  it.each([
    ['a campaign, before it is read', PAUSE, 0],
    ['a campaign, before it is changed', PAUSE, 1],
    ['a message', CHAT, 0],
  ])('is not done, and is not in doubt: the next run does it: %s', async (_, step, passes) => {
    const made = await aPlanOf(step, anSmsStep());
    const service = aService();

    await expect(aRun({ made, service, ...lostAtGate(passes) })).rejects.toBe(LOST);

    expect([service.changes, service.posts]).toEqual([[], []]);
    expect((await runOnce(made, service, { epoch: 2 })).end.reason).toBe('finished');
    expect([...service.changes, ...service.posts]).toHaveLength(1);
  });

  it('is in doubt where the change had left, and only its status could not be asked for', async () => {
    const made = await aPlanOf(PAUSE, anSmsStep());
    const service = aService({ other: (_call, count) => (count === 2 ? failure(true) : undefined) });

    await expect(aRun({ made, service, ...lostAtGate(2) })).rejects.toBe(LOST);

    expect(service.calls()).toBe(2);
    expect(entriesOf(made.disk, made.directory).at(-1)).toMatchObject({ type: 'action' });
  });
});

/** Time that passes only when a lane pauses, also for who sleeps. */
function aSlowTime() {
  let passedMs = 0;
  const sleepers: { untilMs: number; wake: () => void }[] = [];
  const clock = {
    now: () => 1_800_000_000_000 + passedMs,
    monotonicMs: () => passedMs,
    sleep: (delayMs: number) => new Promise<void>((wake) => void sleepers.push({ untilMs: passedMs + delayMs, wake })),
    advance: (delayMs: number) => {
      passedMs += delayMs;
      for (const { untilMs, wake } of sleepers) if (untilMs <= passedMs) wake();
    },
  };
  const lane = aFakeLane(clock, async () => {});
  return { deps: { clock, createLane: lane.createLane }, passedMs: () => passedMs };
}
