import { describe, expect, it } from 'vitest';
import type { ActionStep, CampaignStep, ChatStep } from '../../src/job/job.js';
import type { Call } from '../../src/service/transport.js';
import { aCsvOf, anSmsStep, aPlan, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, failure, reportOf } from './a-run.js';

const CHAT: ChatStep = { kind: 'chat', text: 'done', room: undefined, when: 'always', limits: someLimits() };
const CAMPAIGN: CampaignStep = {
  kind: 'campaign',
  campaign: 101,
  expect: ['RUNNING'],
  set: undefined,
  always: false,
  limits: someLimits(),
};

/** A job of one sms step and the action behind it, whose area cannot be reached. */
async function runWithout(action: ActionStep) {
  const made = await aPlan({
    files: { 'people.csv': aCsvOf(1) },
    job: { steps: [anSmsStep(), action] },
  });
  const messages = aScriptedService();
  let tries = 0;
  const transport = {
    ...messages.transport,
    send: async (call: Call, signal?: AbortSignal) => {
      if (call.path.endsWith('/messages/batch')) return messages.transport.send(call, signal);
      tries += 1;
      return failure(false, 'ECONNREFUSED');
    },
  };
  const { lane, end } = await aRun({ made, service: { transport } });
  const summary = await reportOf(made);
  return { end, summary, tries, waitedSeconds: lane.pausesMs.reduce((sum, each) => sum + each, 0) / 1000 };
}

describe('step without rows whose area cannot be reached', () => {
  it('is tried for a minute at most where nothing relies on it, and the run ends', async () => {
    const { end, summary, tries, waitedSeconds } = await runWithout(CHAT);

    expect(tries).toBeGreaterThan(3);
    expect(waitedSeconds).toBeGreaterThan(20);
    expect(waitedSeconds).toBeLessThanOrEqual(60);
    expect(end.reason).toBe('finished');
    expect(summary.steps[1]?.action).toMatchObject({ status: 'rejected', code: 'unavailable' });
  });

  it('is tried as long as the job says where the run relies on it, and the run stops', async () => {
    const { end, waitedSeconds } = await runWithout(CAMPAIGN);

    expect(waitedSeconds).toBeGreaterThan(800);
    expect(end.reason).toBe('unavailable');
  });
});
