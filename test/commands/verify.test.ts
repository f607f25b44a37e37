import { describe, expect, test } from 'vitest';
import { type CheckFlags, checkVerification, type StartFlags, startVerification } from '../../src/commands/verify.js';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import type { VerificationEntry } from '../../src/sandbox/verification/entry.js';
import { wrongCode } from '../sandbox/verification/verification-client.js';
import { aCaller, aSandbox, aService } from './a-single-call.js';

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

  test('exits with 0 for the right code', async () => {
    const { check, started, json } = await aVerifier();
    const { sessionId, code } = await started();
    expect(await check(sessionId, { code })).toBe(0);
    expect(json().status).toBe('VERIFIED');
  });

  test('exits with 1 for a wrong code, and for a session that is over', async () => {
    const { check, started, json, sandbox } = await aVerifier();
    const { sessionId, code } = await started();
    const statuses: string[] = [];
    for (let tries = 0; tries < 5; tries++) {
      expect(await check(sessionId, { code: wrongCode(code) })).toBe(1);
      statuses.push(json().status);
    }
    expect(statuses).toEqual(['WAITING', 'WAITING', 'WAITING', 'WAITING', 'FAILED']);
    expect(await check(sessionId)).toBe(0);
    expect(await sent(sandbox)).toHaveLength(6);
  });

  test.each<FaultInput['kind']>(['reset-after', 'empty'])(
    'asks for the status after %s, which tells of a right code',
    async (kind) => {
      const { check, started, sandbox, json } = await aVerifier();
      const { sessionId, code } = await started();
      sandbox.setFaults([{ kind, nth: 1 }]);
      expect(await check(sessionId, { code })).toBe(0);
      expect(json().status).toBe('VERIFIED');
    },
  );

  test('is in doubt when the answer was lost and the session still waits', async () => {
    const { check, started, sandbox, said } = await aVerifier();
    const { sessionId, code } = await started();
    said.stdout = '';
    sandbox.setFaults([{ kind: 'reset-after', nth: 1 }]);
    await expect(check(sessionId, { code: wrongCode(code) })).rejects.toMatchObject({ code: 'in-doubt' });
    expect(said.stdout).toBe('');
    const checks = (await sent(sandbox)).filter(({ event }) => event === 'code-checked');
    expect(checks).toHaveLength(1);
  });

  test('is refused for a session that nobody knows', async () => {
    const { check } = await aVerifier();
    await expect(check('nobody')).rejects.toMatchObject({ name: 'ServiceError', code: 'refused', status: 404 });
    await expect(check('../x')).rejects.toMatchObject({ name: 'UserError', code: 'bad-input' });
  });
});
