import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type CheckFlags,
  checkVerification,
  type StartFlags,
  startVerification,
} from '../../src/commands/verification.js';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import type { VerificationEntry } from '../../src/sandbox/verification.js';
import { wrongCode } from '../sandbox/verification/verification-client.js';
import { aCaller, aSandbox, aServer, aService } from './a-single-call.js';

const NOTHING = { country: undefined, brand: undefined, template: undefined, source: undefined };

async function aVerifier() {
  const sandbox = await aSandbox();
  const caller = aCaller(aService(sandbox.origin));
  const { flags, terminal } = caller;
  const start = (more: Partial<StartFlags> = {}) =>
    startVerification({ number: '+6590000001', ...NOTHING, ...flags, ...more }, terminal);
  return {
    ...caller,
    sandbox,
    start,
    check: (session: string, more: Partial<CheckFlags> = {}) =>
      checkVerification({ session, code: undefined, ...flags, ...more }, terminal),
    /** Starts a session, and tells its id and its code. */
    started: async () => {
      await start();
      const { code = '', sessionId = '' } = (await sent(sandbox))[0] ?? {};
      return { code, sessionId };
    },
  };
}

async function sent({ readLedger }: Awaited<ReturnType<typeof aSandbox>>): Promise<VerificationEntry[]> {
  const entries: VerificationEntry[] = [];
  for await (const entry of readLedger()) if (entry.area === 'verification') entries.push(entry);
  return entries;
}

describe('volley verify start', () => {
  test('sends one code, and prints the session without the code', async () => {
    const { start, sandbox, json, said } = await aVerifier();
    expect(await start({ number: '9000 0001', country: 'sg', brand: 'ACME', template: '{brand} {code}' })).toBe(0);
    const [entry, ...others] = await sent(sandbox);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ destination: 6590000001, text: `ACME ${entry?.code}` });
    expect(json()).toEqual({
      sessionId: entry?.sessionId,
      status: 'WAITING',
      attempt: 0,
      expiresAt: entry?.expiresAt,
      retryAfter: entry?.nextSmsAfter,
      destination: '+6590000001',
      verifyUri: `/api/v2/subaccounts/acme_hq/sessions/${entry?.sessionId}`,
      resourceUri: null,
      ...{ state: 'done', exitCode: 0, error: null },
    });
    expect(said.stdout).not.toContain(`"${entry?.code}"`);
  });

  test('names the sender where it is given', async () => {
    const { start, sandbox } = await aVerifier();
    await start({ source: 'ACME' });
    expect(await sent(sandbox)).toMatchObject([{ source: 'ACME' }]);
  });

  test('is refused, and sends nothing, while the number may not be sent to again', async () => {
    const { start, sandbox } = await aVerifier();
    await start();
    await expect(start()).rejects.toMatchObject({ name: 'ServiceError', code: 'refused', serviceCode: '1400' });
    expect(await sent(sandbox)).toHaveLength(1);
  });

  test('is in doubt when the answer was lost, and is not sent again', async () => {
    const { start, sandbox } = await aVerifier();
    sandbox.setFaults([{ kind: 'reset-after' }]);
    await expect(start()).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt' });
    expect(await sent(sandbox)).toHaveLength(1);
    expect([...sandbox.readRequests()]).toHaveLength(1);
  });

  test.each<[Partial<StartFlags>, RegExp]>([
    [{ template: 'Hello' }, /--template is "Hello", expected text with \{code\}/],
    [{ template: '{code} {name}' }, /--template .*expected no \{ or \}/],
    [{ template: '' }, /--template is ""/],
    [{ template: '{brand}: {code}' }, /--brand is missing/],
    [{ brand: 'x'.repeat(31) }, /--brand .*30 characters/],
    [{ source: 'more than eleven' }, /--source .*11 characters/],
    [{ number: 'abc' }, /no code was sent\. The argument does not contain a phone number/],
    [{ number: '90000001' }, /country/],
    [{ number: '90000001', country: 'Atlantis' }, /two-letter/],
    [{ number: '+65123' }, /few digits/],
    [{ number: '' }, /empty/],
  ])('refuses %j as a step of a job would, and calls no one', async (flags, problem) => {
    const { start, sandbox } = await aVerifier();
    const error = await start(flags).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'UserError', code: 'bad-flag', message: expect.stringMatching(problem) });
    expect([...sandbox.readRequests()]).toEqual([]);
  });

  test('on the sandbox says where the code can be read, and it can', async () => {
    const { flags, terminal, said, json, directory } = aCaller({ sandbox: true });
    const start = (more: Partial<StartFlags>) =>
      startVerification({ number: '+6590000001', ...NOTHING, ...flags, ...more }, terminal);
    await start({});
    const ledger = join(directory, 'out', 'calls', 'sandbox', 'ledger.ndjson');
    expect(json()).toMatchObject({ status: 'WAITING', ledger });
    const entry = JSON.parse(readFileSync(ledger, 'utf8').trimEnd().split('\n').at(-1) ?? '');
    await checkVerification({ session: json().sessionId, code: entry.shared.code, ...flags }, terminal);
    expect(json().status).toBe('VERIFIED');
    said.stdout = '';
    await start({ number: '+6590000002', json: false });
    expect(said.stdout).toContain(`the code is \`shared.code\` in the last line of ${ledger}\n`);
  });

  test('says it in plain words on a terminal', async () => {
    const { start, said } = await aVerifier();
    await start({ json: false });
    expect(said.stdout).toMatch(
      /^Session \w+: WAITING\n {2}wrong codes {2}0\n {2}ends {9}\S+Z\n {2}no SMS until \S+Z\n$/,
    );
  });
});

describe('volley verify check', () => {
  test('without a code shows the session, and changes nothing', async () => {
    const { check, started, json, sandbox } = await aVerifier();
    const { sessionId } = await started();
    expect([await check(sessionId), await check(sessionId)]).toEqual([0, 0]);
    expect(json()).toMatchObject({ sessionId, status: 'WAITING', attempt: 0 });
    expect(await sent(sandbox)).toHaveLength(1);
  });

  test('exits with 0 for the right code, and says so first', async () => {
    const { check, started, json, said } = await aVerifier();
    const { sessionId, code } = await started();
    expect(await check(sessionId, { code })).toBe(0);
    expect(json()).toMatchObject({ status: 'VERIFIED', check: 'right' });
    const other = await aVerifier();
    const session = await other.started();
    other.said.stdout = '';
    await other.check(session.sessionId, { code: session.code, json: false });
    expect(other.said.stdout).toBe(`The code is right\nSession ${session.sessionId}: VERIFIED\n  wrong codes  0\n`);
    expect(said.stdout).not.toContain(code);
  });

  test('exits with 1 for a wrong code, says how many tries are left, and of a session that is over no times', async () => {
    const { check, started, said } = await aVerifier();
    const { sessionId, code } = await started();
    const told: string[][] = [];
    for (let tries = 0; tries < 5; tries++) {
      said.stdout = '';
      expect(await check(sessionId, { code: wrongCode(code), json: false })).toBe(1);
      told.push(said.stdout.trimEnd().split('\n'));
    }
    expect(told.map(([first]) => first)).toEqual([
      'The code is wrong, 4 tries left',
      'The code is wrong, 3 tries left',
      'The code is wrong, 2 tries left',
      'The code is wrong, 1 try left',
      'The code is wrong, no tries left',
    ]);
    expect(told[0]?.map((line) => line.slice(0, 14))).toContain('  no SMS until');
    expect(told[4]?.slice(1)).toEqual([`Session ${sessionId}: FAILED`, '  wrong codes  5']);
  });

  test('checks no code of a session that is over, says so, and exits with 1', async () => {
    const { check, started, json, said, sandbox } = await aVerifier();
    const { sessionId, code } = await started();
    await check(sessionId, { code });
    expect(await check(sessionId, { code: wrongCode(code) })).toBe(1);
    expect(json()).toMatchObject({ status: 'VERIFIED', check: 'not-checked' });
    said.stdout = '';
    expect(await check(sessionId, { code: wrongCode(code), json: false })).toBe(1);
    expect(said.stdout).toMatch(/^The session was VERIFIED already: this code was not checked\nSession /);
    expect(await check(sessionId)).toBe(0);
    expect(json()).not.toHaveProperty('check');
    // The start, the first check with its read, and a read for each of the others.
    expect([...sandbox.readRequests()]).toHaveLength(1 + 2 + 3);
  });

  test.each<FaultInput['kind']>(['reset-after', 'empty'])(
    'asks for the status after %s, which tells of a right code',
    async (kind) => {
      const { check, started, sandbox, json } = await aVerifier();
      const { sessionId, code } = await started();
      sandbox.setFaults([{ kind, nth: 2 }]);
      expect(await check(sessionId, { code })).toBe(0);
      expect(json().status).toBe('VERIFIED');
    },
  );

  test('is in doubt when the answer was lost and the session still waits', async () => {
    const { check, started, sandbox, json } = await aVerifier();
    const { sessionId, code } = await started();
    sandbox.setFaults([{ kind: 'reset-after', nth: 2 }]);
    await expect(check(sessionId, { code: wrongCode(code) })).rejects.toMatchObject({ code: 'in-doubt' });
    expect(json()).toMatchObject({ error: { code: 'in-doubt' } });
    const checks = (await sent(sandbox)).filter(({ event }) => event === 'code-checked');
    expect(checks).toHaveLength(1);
  });

  test('is in doubt for a status that no one has heard of', async () => {
    const { origin } = await aServer({ status: 200, body: { uid: 's-1', status: 'PARKED', expiresAt: 'tomorrow' } });
    const { flags, terminal, said } = aCaller(aService(origin));
    expect(await checkVerification({ session: 's-1', code: undefined, ...flags, json: false }, terminal)).toBe(0);
    expect(said.stdout).toBe('Session s-1: PARKED\n');
  });

  test.each(['', ' ', '12', '12345678901234', '47 11', '47/11'])(
    'refuses %j, which is no code, and calls no one',
    async (code) => {
      const { check, sandbox } = await aVerifier();
      await expect(check('s-1', { code })).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
      expect([...sandbox.readRequests()]).toEqual([]);
    },
  );

  test('is refused for a session that no one knows', async () => {
    const { check } = await aVerifier();
    await expect(check('nobody')).rejects.toMatchObject({ name: 'ServiceError', code: 'refused', status: 404 });
    await expect(check('../x')).rejects.toMatchObject({ name: 'UserError', code: 'bad-input' });
  });
});
