import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Of } from '../../src/plan/format/sealed-json.js';
import { numbersOf, people } from '../e2e/a-job.js';
import { readFailure } from '../e2e/command.js';
import { AConsole, fieldOf, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;

describe('a console that several people share', { timeout: TIMEOUT_MS }, () => {
  const console = new AConsole();
  const users = join(console.directory, 'users.csv');
  const passwords: Record<string, string> = {};

  /** By the command. */
  async function add(name: string, role: string) {
    const { stdout } = await console.run('--users', users, '--add', name, '--role', role, '--json').ended;
    passwords[name] = JSON.parse(stdout).password;
  }

  const be = (name: string) => console.signIn(name, passwords[name] ?? '');

  /** A campaign that waits for approval, checked by who asks. */
  async function aWaitingCampaign(name: string) {
    await console.aCampaign(name, people(3));
    console.changeJob(name, (job) => `${job}\nguards: { requireApproval: 1 }\n`);
    return console.check(name);
  }

  beforeAll(async () => {
    Object.assign(passwords, await console.addUsers(users, { Vera: 'viewer', Anna: 'author', Bob: 'approver' }));
    const { error } = readFailure(await console.run('--users', users).ended);
    expect(error.message).toContain('has 1 person who approves, expected 2');
    Object.assign(passwords, await console.addUsers(users, { Cy: 'approver' }));
    await console.start('--users', users);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await console.end();
  }, TIMEOUT_MS);

  test('lets in by name and password alone, until these change or the person leaves', async () => {
    expect(await console.ask('/')).toMatchObject({ status: 303, to: '/enter' });
    expect((await console.signIn('Anna', passwords.Bob ?? '')).status).toBe(422);
    expect((await console.signIn('Anna', '')).status).toBe(422);
    expect((await console.ask('/enter?link=x')).status).toBe(200);
    expect(await be('anna')).toMatchObject({ status: 422 });
    expect(await console.signIn('anna', passwords.Anna ?? '')).toMatchObject({ status: 303, to: '/' });
    expect((await console.ask('/')).text).toContain('Anna, author');
    await add('Anna', 'author');
    expect((await console.ask('/')).to).toBe('/enter');
    await be('Anna');
    expect((await console.post('/leave')).to).toBe('/enter');
    expect((await console.ask('/')).to).toBe('/enter');
    expect(readFileSync(users, 'utf8')).not.toContain(passwords.Anna);
  });

  test('takes a body of some size only from those who have signed in', async () => {
    await console.signIn('Anna', '');
    const fields = { name: 'Anna', password: 'x'.repeat(100_000) };
    for (const path of ['/enter', '/assets/console.css', '/leave'])
      expect([path, (await console.ask(path, { fields })).status]).toEqual([path, path === '/leave' ? 303 : 413]);
  });

  test.each([
    ['keys', '.env', 'KEY=1\nKEY=2\n'],
    ['keys under another name', 'keys', 'KEY=1\nKEY=2\n'],
    ['a file beside the directory', '../beside.csv', 'KEY\n1\n'],
    ['a file that a campaign seems to have', 'campaigns/paths/files/../../../../beside.csv', 'KEY\n1\n'],
  ])('reads no file for its people that is not theirs: %s', async (_what, name, text) => {
    await be('Anna');
    await console.aCampaign('paths', people(2));
    const path = `${console.directory}/${name}`;
    writeFileSync(path, text);
    for (const page of ['/c/paths/file', '/c/paths/who']) {
      const refused = await console.save(page, { path });
      expect([page, refused.status, refused.to]).toEqual([page, 422, undefined]);
      expect(textOf(refused)).toContain(`Choose a file below ${console.directory}`);
    }
    expect((await console.ask('/c/paths/columns')).text).not.toContain('KEY');
    rmSync(path);
  });

  test('shows all to a viewer, and does nothing for one', async () => {
    await be('Vera');
    expect((await console.ask('/')).status).toBe(200);
    for (const path of ['/new', '/c/x/file', '/c/x/check', '/c/x/send', '/c/x/stop', '/c/x/go-on']) {
      const answer = await console.post(path, { name: 'of-vera' });
      const expected = [path, 403, expect.stringContaining('You are viewer here')];
      expect([path, answer.status, textOf(answer)]).toEqual(expected);
    }
  });

  test('sends what one person checked once another approved it, and each message once', async () => {
    await be('Anna');
    const { plan, ...checked } = await aWaitingCampaign('shared');
    expect(textOf(checked)).toContain('Anna checked this campaign, so another person approves it');
    expect(plan).toBe('');
    const { directory } = JSON.parse(readFileSync(join(console.directory, '.console', 'shared', 'plan.out'), 'utf8'));
    const digest = sha256Of(readFileSync(join(directory, 'plan.json'), 'utf8'));
    const press = () => console.post('/c/shared/send', { plan: digest, count: '3' });
    expect((await press()).status).toBe(403);

    await be('Bob');
    expect(await console.textAt('/c/shared/check')).toContain('Type 3 to approve and send');
    expect((await Promise.all([press(), press()])).map(({ to }) => to)).toEqual(['/c/shared/run', '/c/shared/run']);
    await console.ended('shared');
    expect(console.sent('shared')).toEqual(numbersOf(3));
  });

  test('refuses an approver what they checked themselves, and what was changed since they looked', async () => {
    await be('Bob');
    expect(textOf(await aWaitingCampaign('own'))).toContain('another person approves it');

    await be('Cy');
    const plan = fieldOf(await console.ask('/c/own/check'), 'plan');
    expect(plan).toHaveLength(64);
    await be('Anna');
    await console.save('/c/own/message', { sender: 'LADEN', message: 'Another text' });
    await console.check('own');
    await be('Cy');
    expect((await console.post('/c/own/send', { plan, count: '3' })).status).toBe(409);
    expect(() => console.sent('own')).toThrow();
  });
});

test.each([
  ['others reach it, and it has no users', ['--host', '0.0.0.0'], '--users and --origin'],
  ['its people would come without https', ['--users', 'u.csv', '--origin', 'http://x.example'], 'https://'],
])('a console is not started where %s', async (_why, flags, said) => {
  const { error, exitCode } = readFailure(await new AConsole().run(...flags).ended);
  expect([exitCode, error.message]).toEqual([2, expect.stringContaining(said)]);
});

test('a console by the name of this machine is that of its address', async () => {
  const console = new AConsole();
  await console.start('--host', 'localhost');
  expect(console.origin).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect((await console.enter()).status).toBe(303);
  await console.end();
});
