import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/fault.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { aCaller, aSandboxCaller, aService } from '../command/a-single-call.js';
import { Client } from '../sandbox/sandbox-client.js';
import { wrongCode } from '../sandbox/verification/verification-client.js';
import { aRecorder } from '../service/a-recorder.js';

async function aVerifier() {
  const { run, ...caller } = await aSandboxCaller();
  const start = (...words: string[]) => run('verify', 'start', ...words);
  return {
    ...caller,
    start,
    check: (...words: string[]) => run('verify', 'check', ...words),
    /** Starts a session, and tells its id and its code. */
    started: async () => {
      await start('+6590000001');
      const { code = '', sessionId = '' } = (await sent(caller.sandbox))[0] ?? {};
      return { code, wrong: wrongCode(code), sessionId };
    },
  };
}

const sent = (sandbox: Sandbox) => new Client(sandbox).entries('verification');

test('verify start sends one code, and prints the session without the code', async () => {
  const { start, sandbox, json, said } = await aVerifier();
  const texts = ['--brand', '007', '--template', '{brand} {code}', '--source', 'ACME'];
  expect(await start('09012345678', '--country', 'jp', ...texts)).toBe(0);
  const [entry, ...others] = await sent(sandbox);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ destination: 819012345678, text: `007 ${entry?.code}`, source: 'ACME' });
  expect(json()).toEqual({
    sessionId: entry?.sessionId,
    status: 'WAITING',
    attempt: 0,
    expiresAt: entry?.expiresAt,
    retryAfter: entry?.nextSmsAfter,
    destination: '+819012345678',
    verifyUri: `/api/v2/subaccounts/acme_hq/sessions/${entry?.sessionId}`,
    resourceUri: null,
    ...{ state: 'done', exitCode: 0, error: null },
  });
  expect(said.stdout).not.toContain(`"${entry?.code}"`);
});

test('verify start is refused while the number may not be sent to again, and in doubt when the answer was lost: it is sent once', async () => {
  const { start, sandbox, requests } = await aVerifier();
  sandbox.setFaults([{ kind: 'reset-after' }]);
  await expect(start('+6590000001')).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt' });
  expect(requests()).toHaveLength(1);
  sandbox.setFaults([]);
  await expect(start('+6590000001')).rejects.toMatchObject({ code: 'refused', serviceCode: '1400' });
  expect(await sent(sandbox)).toHaveLength(1);
});

const NUMBER = '+6590000001';

test.each<[string[], RegExp]>([
  [[NUMBER, '--template', 'Hello'], /--template is "Hello", expected text with \{code\}/],
  [[NUMBER, '--template', '{code} {name}'], /--template .*expected no \{ or \}/],
  [[NUMBER, '--template', '{brand}: {code}'], /--brand is missing/],
  [[NUMBER, '--brand', 'x'.repeat(31)], /--brand .*30 characters/],
  [[NUMBER, '--source', 'more than eleven'], /--source .*11 characters/],
  [['abc'], /no code was sent: the argument does not contain a phone number/],
  [['90000001'], /country/],
  [['90000001', '--country', 'Atlantis'], /two-letter/],
  [['+65123'], /few digits/],
  [[''], /empty/],
])('verify start refuses %j, and calls no one', async (words, problem) => {
  const { start, requests } = await aVerifier();
  await expect(start(...words)).rejects.toMatchObject({ code: 'bad-flag', message: expect.stringMatching(problem) });
  expect(requests()).toEqual([]);
});

test('verify start on the sandbox says where the code can be read, and it can', async () => {
  const { run, said, json, directory } = aCaller({ sandbox: true });
  await run('verify', 'start', '+6590000001');
  const ledger = join(directory, 'out', 'calls', 'sandbox', 'ledger.ndjson');
  expect(json()).toMatchObject({ status: 'WAITING', ledger });
  const entry = JSON.parse(readFileSync(ledger, 'utf8').trimEnd().split('\n').at(-1) ?? '');
  await run('verify', 'check', json().sessionId, entry.shared.code);
  expect(json().status).toBe('VERIFIED');
  said.stdout = '';
  await run('verify', 'start', '+6590000002', '--no-json');
  expect(said.stdout).toMatch(
    /^Session \w+: WAITING\n {2}wrong codes {2}0\n {2}ends {9}\S+Z\n {2}no SMS until \S+Z\nThe sandbox/,
  );
  expect(said.stdout).toContain(`the code is \`shared.code\` in the last line of ${ledger}\n`);
});

test('verify check without a code shows the session, and changes nothing', async () => {
  const { check, started, json, sandbox } = await aVerifier();
  const { sessionId } = await started();
  expect([await check(sessionId), await check(sessionId)]).toEqual([0, 0]);
  expect(json()).toMatchObject({ sessionId, status: 'WAITING', attempt: 0 });
  expect(json()).not.toHaveProperty('check');
  expect(await sent(sandbox)).toHaveLength(1);
});

test('verify check exits with 0 for the right code, checks none of a session that is over, and then exits with 1', async () => {
  const { check, started, json, said, requests } = await aVerifier();
  const { sessionId, code, wrong } = await started();
  said.stdout = '';
  expect(await check(sessionId, code, '--no-json')).toBe(0);
  expect(said.stdout).toBe(`The code is right\nSession ${sessionId}: VERIFIED\n  wrong codes  0\n`);
  expect(await check(sessionId, wrong)).toBe(1);
  expect(json()).toMatchObject({ status: 'VERIFIED', check: 'not-checked', state: 'done', exitCode: 1 });
  said.stdout = '';
  expect(await check(sessionId, wrong, '--no-json')).toBe(1);
  expect(said.stdout).toMatch(/^The session was VERIFIED already: this code was not checked\nSession /);
  // The start, the first check with its read, and a read for each of the others.
  expect(requests()).toHaveLength(1 + 2 + 2);
});

test('verify check exits with 1 for a wrong code, and says how many tries are left', async () => {
  const { check, started, json, said } = await aVerifier();
  const { sessionId, wrong } = await started();
  expect(await check(sessionId, wrong)).toBe(1);
  expect(json()).toMatchObject({ status: 'WAITING', check: 'wrong', state: 'done', exitCode: 1 });
  const told: string[][] = [];
  for (let tries = 1; tries < 5; tries++) {
    said.stdout = '';
    expect(await check(sessionId, wrong, '--no-json')).toBe(1);
    told.push(said.stdout.trimEnd().split('\n'));
  }
  expect(told.map(([first]) => first)).toEqual([
    'The code is wrong, 3 tries left',
    'The code is wrong, 2 tries left',
    'The code is wrong, 1 try left',
    'The code is wrong, no tries left',
  ]);
  expect(told[0]?.map((line) => line.slice(0, 14))).toContain('  no SMS until');
  expect(told[3]?.slice(1)).toEqual([`Session ${sessionId}: FAILED`, '  wrong codes  5']);
});

test.each<FaultInput['kind']>(['reset-after', 'empty'])(
  'verify check asks for the status after %s, which tells of a right code',
  async (kind) => {
    const { check, started, sandbox, json } = await aVerifier();
    const { sessionId, code } = await started();
    sandbox.setFaults([{ kind, nth: 2 }]);
    expect(await check(sessionId, code)).toBe(0);
    expect(json()).toMatchObject({ status: 'VERIFIED', check: 'right' });
  },
);

test('verify check is in doubt when the answer was lost and the session still waits', async () => {
  const { check, started, sandbox } = await aVerifier();
  const { sessionId, wrong } = await started();
  sandbox.setFaults([{ kind: 'reset-after', nth: 2 }]);
  await expect(check(sessionId, wrong)).rejects.toMatchObject({ code: 'in-doubt' });
  expect((await sent(sandbox)).filter(({ event }) => event === 'code-checked')).toHaveLength(1);
});

test('verify check takes session and code as they are written, and shows a status that no one has heard of', async () => {
  const { base, requests } = await aRecorder({ body: { uid: '0123', status: 'WAITING' } });
  const { run } = aCaller(aService(base));
  await run('verify', 'check', '0123', '0012');
  const expected = ['/api/v2/subaccounts/acme_hq/sessions/0123', '/api/v2/subaccounts/acme_hq/sessions/0123?code=0012'];
  expect(requests.map(({ url }) => url)).toEqual(expected);
  const parked = await aRecorder({ body: { uid: '1e3', status: 'PARKED', expiresAt: 'tomorrow' } });
  const other = aCaller(aService(parked.base));
  expect(await other.run('verify', 'check', '1e3', '--no-json')).toBe(0);
  expect(other.said.stdout).toBe('Session 1e3: PARKED\n');
});

test('verify check refuses what is no code, and calls no one', async () => {
  const { check, requests } = await aVerifier();
  for (const code of ['', ' ', '12', '12345678901', '47 11', '47/11']) {
    await expect(check('s-1', code)).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
  }
  expect(requests()).toEqual([]);
});

test('verify check is refused for a session that no one knows', async () => {
  const { check } = await aVerifier();
  await expect(check('nobody')).rejects.toMatchObject({ name: 'ServiceError', code: 'refused', status: 404 });
  await expect(check('../x')).rejects.toMatchObject({ name: 'UserError', code: 'bad-input' });
});
