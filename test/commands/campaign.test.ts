import { describe, expect, test } from 'vitest';
import { type SetCampaignFlags, setCampaign, showCampaign } from '../../src/commands/campaign.js';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { CAMPAIGN_FIELDS } from '../../src/service/areas/campaign.js';
import { aCaller, aSandbox, aService, CREDENTIALS } from './a-single-call.js';

async function aDialer() {
  const sandbox = await aSandbox();
  const caller = aCaller(aService(sandbox.origin));
  const { flags, terminal } = caller;
  return {
    ...caller,
    sandbox,
    show: (id: string, more: { json?: boolean } = {}) => showCampaign({ id, ...flags, ...more }, terminal),
    set: (id: string, target: string, more: Partial<SetCampaignFlags> = {}) =>
      setCampaign({ id, target, ...flags, ...more }, terminal),
    /** Methods of all requests that arrived. */
    methods: () => [...sandbox.readRequests()].map(({ method }) => method),
  };
}

describe('volley campaign status', () => {
  test('prints state, number and meaning', async () => {
    const { show, json } = await aDialer();
    expect(await show('102')).toBe(0);
    expect(json()).toMatchObject({
      campaign: 102,
      campaignState: 'PAUSED',
      status: 8,
      meaning: 'manual paused: paused, queued records continue to be processed',
      isEnabled: true,
      isDynamic: true,
    });
  });

  test('as JSON has all 23 fields of the contract under their own names, and others that the answer has', async () => {
    const { show, json, sandbox } = await aDialer();
    const asked = await fetch(`${sandbox.origin}/_sandbox/campaigns/500`, {
      method: 'PUT',
      body: JSON.stringify({ 'campaign-name': 'mine', status: 9, 'caller-id': 6531234567, timezone: 'Asia/Singapore' }),
    });
    expect(asked.status).toBe(200);
    await show('500');
    const { fields } = json();
    expect(Object.keys(fields)).toEqual(expect.arrayContaining([...CAMPAIGN_FIELDS]));
    expect(CAMPAIGN_FIELDS).toHaveLength(23);
    expect(fields).toMatchObject({
      'campaign-id': 500,
      'campaign-name': 'mine',
      'caller-id': 6531234567,
      timezone: 'Asia/Singapore',
    });
  });

  test('says on a terminal why a campaign cannot be changed', async () => {
    const { show, said } = await aDialer();
    await show('106', { json: false });
    await show('107', { json: false });
    expect(said.stdout).toMatch(/^Campaign 106 ".*": RUNNING \(.*\)\n {2}not dynamic, [\s\S]*\n {2}not enabled, .*\n$/);
  });

  test.each(['', 'abc', '0', '-1', '1.5', '0x65', '1e3', '9999999999999999'])(
    'refuses %o as an id, and calls no one',
    async (id) => {
      const { show, set, methods } = await aDialer();
      await expect(show(id)).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
      await expect(set(id, 'PAUSED')).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
      expect(methods()).toEqual([]);
    },
  );

  test('is refused for a campaign that no one knows', async () => {
    const { show } = await aDialer();
    await expect(show('999')).rejects.toMatchObject({ name: 'ServiceError', code: 'refused' });
  });
});

describe('volley campaign set', () => {
  test('reads first, then changes', async () => {
    const { set, json, methods } = await aDialer();
    expect(await set('101', 'PAUSED')).toBe(0);
    expect(json()).toEqual({
      campaign: 101,
      target: 'PAUSED',
      state: 'done',
      exitCode: 0,
      error: null,
      code: 'PAUSED',
      reason: 'Campaign 101 went from RUNNING to PAUSED',
    });
    expect(methods()).toEqual(['GET', 'POST']);
  });

  test.each(['paused', 'Paused'])('takes %s for the status that it is', async (target) => {
    const { set, json } = await aDialer();
    expect(await set('101', target)).toBe(0);
    expect(json()).toMatchObject({ target: 'PAUSED', state: 'done', exitCode: 0 });
  });

  test.each(['NEW', 'scheduled', '', 'toString'])(
    'refuses the status %j as it was typed, and calls no one',
    async (target) => {
      const { set, methods } = await aDialer();
      await expect(set('101', target)).rejects.toMatchObject({
        code: 'bad-flag',
        message: expect.stringMatching(new RegExp(`"${target}", expected one of RUNNING, PAUSED, PURGED, STOPPED`)),
      });
      expect(methods()).toEqual([]);
    },
  );

  test('says when the campaign is there already, and changes nothing', async () => {
    const { set, said, methods } = await aDialer();
    expect(await set('102', 'PAUSED', { json: false })).toBe(0);
    expect(said.stdout).toBe('Campaign 102 was PAUSED already\n');
    expect(methods()).toEqual(['GET']);
  });

  test.each<[string, string, RegExp]>([
    ['104', 'RUNNING', /cannot be restarted/],
    ['103', 'PAUSED', /allowed from RUNNING only/],
    ['106', 'PAUSED', /not a dynamic campaign/],
    ['107', 'PAUSED', /not enabled/],
  ])('refuses an impossible change of campaign %s to %s before it asks for it', async (id, target, reason) => {
    const { set, json, methods } = await aDialer();
    expect(await set(id, target)).toBe(1);
    expect(json()).toMatchObject({ state: 'rejected', exitCode: 1, code: 'impossible-change' });
    expect(json().reason).toMatch(reason);
    expect(methods()).toEqual(['GET']);
  });

  test.each<[string, FaultInput]>([
    ['206', { kind: 'status-after', status: 206, nth: 2 }],
    ['a lost answer', { kind: 'reset-after', nth: 2 }],
  ])('settles %s by reading the status', async (_, fault) => {
    const { set, json, sandbox, methods } = await aDialer();
    sandbox.setFaults([fault]);
    expect(await set('101', 'PAUSED')).toBe(0);
    expect(json().reason).toBe('Campaign 101 went from RUNNING to PAUSED, as its status shows');
    expect(methods()).toEqual(['GET', 'POST', 'GET']);
  });

  test('reads again when the reading that should settle it is refused', async () => {
    const { set, sandbox, json, methods } = await aDialer();
    sandbox.setFaults([
      { kind: 'reset-after', nth: 2 },
      { kind: 'status-404', nth: 3 },
    ]);
    expect(await set('101', 'PAUSED')).toBe(0);
    expect(json().reason).toMatch(/, as its status shows$/);
    expect(methods()).toEqual(['GET', 'POST', 'GET', 'GET']);
  });

  test('is in doubt when a signal comes before it is settled', async () => {
    const { set, sandbox, signal, json } = await aDialer();
    sandbox.setFaults([{ kind: 'status-206', nth: 2 }]);
    const ended = set('101', 'PAUSED');
    const isDoubtful = expect(ended).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt' });
    await expect.poll(() => [...sandbox.readRequests()].length, { interval: 2, timeout: 30_000 }).toBeGreaterThan(1);
    signal();
    await isDoubtful;
    expect(json()).toMatchObject({ error: { code: 'in-doubt', status: 206 } });
  });

  test('is not tried without the Action Request Token', async () => {
    const sandbox = await aSandbox();
    const { username, dataToken } = CREDENTIALS.campaign;
    const credentials = { ...CREDENTIALS, campaign: { username, dataToken } };
    const { flags, terminal } = aCaller(aService(sandbox.origin, { credentials }));
    await expect(setCampaign({ id: '101', target: 'PAUSED', ...flags }, terminal)).rejects.toMatchObject({
      code: 'bad-job',
      message: expect.stringContaining('actionToken'),
    });
    expect(await showCampaign({ id: '101', ...flags }, terminal)).toBe(0);
    expect([...sandbox.readRequests()]).toHaveLength(1);
  });
});
