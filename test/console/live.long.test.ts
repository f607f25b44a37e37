import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { numberOf, numbersOf, people } from '../e2e/a-job.js';
import { readFailure } from '../e2e/command.js';
import { AConsole, destinationsIn, expectSaid, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;

describe('a live campaign', { timeout: TIMEOUT_MS }, () => {
  const env = { VOLLEY_API_KEY: TEST_CREDENTIALS.apiKey };
  const alone = new AConsole(env);
  const shared = new AConsole(env);
  const users = join(shared.directory, 'users.csv');
  let passwords: Record<string, string>;
  let sandbox: Sandbox;

  const be = (name: string) => shared.signIn(name, passwords[name] ?? '');

  beforeAll(async () => {
    passwords = await shared.addUsers(users, { Anna: 'author', Bob: 'approver', Cy: 'approver' });
    await Promise.all([alone.startProcess(), shared.start('--users', users)]);
    await alone.enter();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all([alone.end(), shared.end()]);
  }, TIMEOUT_MS);
  beforeEach(async () => {
    sandbox = await startSandbox({ rateLimits: {} });
    const service = `account: acme\ncredentials: { apiKey: { env: VOLLEY_API_KEY } }\nbases: { sms: "${sandbox.origin}" }\n`;
    for (const console of [alone, shared]) console.write('service.yaml', service);
  });
  afterEach(() => sandbox.close());

  const withoutGuard = (job: string) => job.replace(/guards:\n? *\{? *requireApproval: 1 *\}?\n?/, '');

  /** Its job as `change` leaves it; then a copy that is sent from the account. */
  async function aLiveCopy(console: AConsole, name: string, change = (job: string) => job): Promise<string> {
    await console.aCampaign(name, people(3));
    console.changeJob(name, change);
    expect((await console.post(`/c/${name}/live`)).to).toBe(`/c/${name}-live`);
    return `${name}-live`;
  }

  test('of one person is sent from the account in service.yaml, each message once, and its key is in no answer', async () => {
    const name = await aLiveCopy(alone, 'spring');
    const checked = await alone.check(name);
    const press = () => alone.post(`/c/${name}/send`, { plan: checked.plan, count: '3' });
    await Promise.all([press(), press()]);
    const ended = await alone.ended(name);
    expect(textOf(ended)).toContain('the service accepted 3 messages');
    expect(await destinationsIn(sandbox)).toEqual(numbersOf(3));
    const pages = [checked, ended, await alone.ask('/'), await alone.ask(`/c/${name}`)];
    for (const { text } of pages) expect(text).not.toContain(TEST_CREDENTIALS.apiKey);
  });

  test('of a team needs the approval of another person, or as many as its campaign asked for; without a guard it is neither checked nor sent, whatever made its plan', async () => {
    await be('Anna');
    const two = await aLiveCopy(shared, 'two', (job) => `${job}\nguards: { requireApproval: 2 }\n`);
    expect(shared.jobOf(two)).toContain('requireApproval: 2');
    const name = await aLiveCopy(shared, 'team');
    expect(shared.jobOf(name)).toContain('requireApproval: 1');
    await shared.post(`/c/${name}/file`, { path: shared.write('team-live.csv', `${people(3)}Dan,n/a\n`) });
    await shared.check(name);
    await be('Bob');
    const { plan } = await shared.checked(name);
    expect((await shared.post(`/c/${name}/send`, { plan, count: '3' })).to).toBe(`/c/${name}/run`);
    await shared.ended(name);
    expect(await destinationsIn(sandbox)).toEqual(numbersOf(3));

    shared.changeJob(name, withoutGuard);
    const refused = await shared.post(`/c/${name}/check`);
    expectSaid(refused, 422, 'asks for no approval');
    const form = await shared.fixFormOf(name);
    await shared.post(`/c/${name}/fix`, { ...form, 'cell-0-1': numberOf(4), 'was-cell-0-1': 'n/a' });
    await shared.post(`/c/${name}/fix/check`, form);
    const corrected = await shared.checked(name);
    for (const who of ['Anna', 'Cy']) {
      await be(who);
      const answer = await shared.post(`/c/${name}/send`, { plan: corrected.plan, count: '1' });
      expect([who, answer.status, textOf(answer)]).toEqual([who, 403, expect.stringContaining('asks for no approval')]);
    }
    expect(await destinationsIn(sandbox)).toEqual(numbersOf(3));
  });

  test('of a team is reached by no link', async () => {
    const { error, exitCode } = readFailure(await shared.run('--link').ended);
    expect([exitCode, error.message]).toEqual([2, expect.stringContaining('no console that is opened by a link')]);
  });

  test('that may not leave now waits for its hours, says so, and stops for now', async () => {
    const at = (hours: number) => `${String((new Date().getUTCHours() + hours) % 24).padStart(2, '0')}:00`;
    // Hours of today or tomorrow that hold no moment of this test, and reach over no midnight.
    const [from, to] = at(6) < at(8) ? [at(6), at(8)] : [at(9), at(11)];
    const name = await aLiveCopy(alone, 'hours');
    const days = Object.fromEntries(
      ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [`day-${day}`, 'on']),
    );
    const saved = await alone.save(`/c/${name}/when`, { when: 'window', from, to, clock: 'UTC', ...days, next: '1' });
    expect(saved.to).toBe(`/c/${name}/check`);
    const { plan } = await alone.check(name);
    await alone.post(`/c/${name}/send`, { plan, count: '3' });
    await expect
      .poll(async () => textOf(await alone.ask(`/c/${name}/run`)), { timeout: 30_000 })
      .toContain('Messages may not leave now');
    await alone.post(`/c/${name}/stop`);
    const stopped = textOf(await alone.ended(name));
    expect(stopped).toMatch(/The run was stopped for now\. .*Go on/);
    expect(stopped).not.toMatch(/SIGTERM|why the run stopped/);
    expect(await destinationsIn(sandbox)).toEqual([]);
  });
});
