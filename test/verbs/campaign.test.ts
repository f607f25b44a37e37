import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/fault.js';
import { aSandboxCaller } from '../command/a-single-call.js';
import { ALL_CREDENTIALS } from '../job/a-job-file.js';

async function aDialer() {
  const { run, requests, ...caller } = await aSandboxCaller();
  return {
    ...caller,
    show: (...words: string[]) => run('campaign', 'status', ...words),
    set: (...words: string[]) => run('campaign', 'set', ...words),
    /** Of all requests that arrived. */
    methods: () => requests().map(({ method }) => method),
  };
}

test('campaign status prints state, number and meaning, and on a terminal why a campaign cannot be changed', async () => {
  const { show, json, said } = await aDialer();
  expect(await show('102')).toBe(0);
  expect(json()).toMatchObject({
    campaign: 102,
    campaignState: 'PAUSED',
    status: 8,
    meaning: 'manual paused: paused, queued records continue to be processed',
    isEnabled: true,
    isDynamic: true,
  });
  said.stdout = '';
  await show('106', '--no-json');
  await show('107', '--no-json');
  expect(said.stdout).toMatch(/^Campaign 106 ".*": RUNNING \(.*\)\n {2}not dynamic, [\s\S]*\n {2}not enabled, .*\n$/);
});

test('campaign refuses what is no id, or no status that can be asked for, as it was typed, and calls no one', async () => {
  const { show, set, methods } = await aDialer();
  for (const id of ['', 'abc', '0', '-1', '1.5', '0x65', '1e3', '9999999999999999']) {
    await expect(show(id)).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
  }
  for (const target of ['NEW', 'scheduled', 'toString']) {
    const message = expect.stringContaining(`"${target}", expected one of RUNNING, PAUSED, PURGED, STOPPED`);
    await expect(set('101', target)).rejects.toMatchObject({ code: 'bad-flag', message });
  }
  expect(methods()).toEqual([]);
});

test.each(['PAUSED', 'Paused'])('campaign set takes %s, reads first, then changes', async (target) => {
  const { set, json, methods } = await aDialer();
  expect(await set('101', target)).toBe(0);
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

test('campaign set says when the campaign is there already, and changes nothing', async () => {
  const { set, said, methods } = await aDialer();
  expect(await set('102', 'PAUSED', '--no-json')).toBe(0);
  expect(said.stdout).toBe('Campaign 102 was PAUSED already\n');
  expect(methods()).toEqual(['GET']);
});

test('campaign set refuses an impossible change before it asks for it', async () => {
  const { set, json, said, methods } = await aDialer();
  expect(await set('104', 'RUNNING')).toBe(1);
  expect(json()).toMatchObject({ state: 'rejected', exitCode: 1, code: 'impossible-change' });
  expect(json().reason).toMatch(/cannot be restarted/);
  said.stdout = '';
  expect(await set('103', 'PAUSED', '--no-json')).toBe(1);
  expect(said.stdout).toMatch(/^Not done: .*allowed from RUNNING only\n$/);
  expect(methods()).toEqual(['GET', 'GET']);
});

test.each<[string, FaultInput]>([
  ['206', { kind: 'status-after', status: 206, nth: 2 }],
  ['a lost answer', { kind: 'reset-after', nth: 2 }],
])('campaign set settles %s by reading the status', async (_, fault) => {
  const { set, json, sandbox, methods } = await aDialer();
  sandbox.setFaults([fault]);
  expect(await set('101', 'PAUSED')).toBe(0);
  expect(json().reason).toBe('Campaign 101 went from RUNNING to PAUSED, as its status shows');
  expect(methods()).toEqual(['GET', 'POST', 'GET']);
});

test('campaign set is in doubt when a signal comes before its change is settled', async () => {
  const { set, sandbox, signal } = await aDialer();
  sandbox.setFaults([{ kind: 'status-206', nth: 2 }]);
  const ended = set('101', 'PAUSED');
  const isDoubtful = expect(ended).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt', status: 206 });
  await expect.poll(() => [...sandbox.readRequests()].length, { interval: 2, timeout: 30_000 }).toBeGreaterThan(1);
  signal('SIGINT');
  await isDoubtful;
});

test('campaign set is not tried without the Action Request Token, which status does not need', async () => {
  const { username, dataToken } = ALL_CREDENTIALS.campaign;
  const credentials = { ...ALL_CREDENTIALS, campaign: { username, dataToken } };
  const { run, requests } = await aSandboxCaller({ credentials });
  const expected = { code: 'bad-job', message: expect.stringContaining('actionToken') };
  await expect(run('campaign', 'set', '101', 'PAUSED')).rejects.toMatchObject(expected);
  expect(await run('campaign', 'status', '101')).toBe(0);
  expect(requests()).toHaveLength(1);
});
