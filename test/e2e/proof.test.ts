import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { chainOf, type Entry, type Proof, prove } from './a-proof.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace, volleyIn } from './a-workspace.js';
import { aStoppedRun } from './some-runs.js';

const digest = (salt: string, text: string | Buffer) => createHash('sha256').update(salt).update(text).digest('hex');

/** The salted digests of the numbers of rows that were accepted. */
const acceptedIn = ({ entries }: Proof) =>
  entries.flatMap(({ type, status, number }) => (type === 'row' && status === 'accepted' ? [number] : []));

const refusedFor = (why: string) => ({ code: 1, stderr: expect.stringContaining(why) });
const ANOTHER_PLAN = refusedFor('does not hold: it is another plan, or was changed');

describe.concurrent('the proof of a run', () => {
  test('of a run that was killed, settled and retried it says what the ledger says, and holds without Volley', async () => {
    const { workspace } = await aStoppedRun();
    expect((await workspace.run()).code).toBe(3);
    const run = workspace.firstRun();
    const doubt = await prove(workspace, run);
    expect((await doubt.verify('--head', doubt.printed.head)).stderr).toBe('');
    const plan = join(workspace.path(run), 'plan.json');
    expect(await doubt.verify('--plan', plan)).toMatchObject({ code: 0 });
    expect(await doubt.verify('--plan', doubt.write(`${readFileSync(plan, 'utf8')} `))).toMatchObject(ANOTHER_PLAN);

    expect((await workspace.settle(run, 'not-sent', 10)).code).toBe(0);
    const retried = (await workspace.resend(run, 'not-sent')).summary;

    const sent: string[] = [];
    for (const each of [run, retried.directory]) {
      const proof = await prove(workspace, each);
      expect(await proof.verify('--salt', 'proof.salt', '1-sms.results.csv')).toMatchObject({ code: 0, stderr: '' });
      const salt = proof.read('proof.salt').trim();
      const numbers = new Map<unknown, string>(numbersOf(30).map((number) => [digest(salt, number.slice(1)), number]));
      sent.push(...acceptedIn(proof).map((number) => numbers.get(number) ?? 'another'));
    }

    // The request that was killed did reach the sandbox: a person said that it was not sent.
    expect(new Set(await workspace.destinations())).toEqual(new Set(sent));
    expect(sent.toSorted()).toEqual(numbersOf(30));
    const { entries } = await prove(workspace, run);
    expect(entries.map(({ type }) => type)).toEqual(expect.arrayContaining(['settled', 'claimed', 'closed']));
    const outcomes = { accepted: 20, 'not-sent': 10, 'in-doubt': 0 };
    expect(entries.find(({ type }) => type === 'balance')).toMatchObject({ planned: 30, outcomes });
    expect(entries.filter(({ claimedBy }) => claimedBy === retried.plan)).toHaveLength(10);
  });

  test('it holds no number, and a second one of the same run is the same, byte for byte', async () => {
    const workspace = await aJobFor(`${people(20)}Bad,+65 1\nAgain,${numberOf(1)}\n`);
    const { summary } = await workspace.run();
    // As a process leaves it that died before it had written it.
    writeFileSync(join(summary.directory, 'proof.salt'), '');
    const { printed, text } = await prove(workspace, summary.directory);
    const page = readFileSync(printed.page, 'utf8');

    expect(text + page).not.toMatch(/91000\d{3}|P1\b/);
    expect(page).toContain(printed.head);
    expect(statSync(printed.salt).mode & 0o777).toBe(0o600);
    expect(text + page).not.toContain(readFileSync(printed.salt, 'utf8').trim());

    const again = await workspace.told('proof', 'job.yaml', '--output', 'audit');
    expect(again).toMatchObject({ head: printed.head, state: 'finished' });
    expect(workspace.read('audit/proof.json')).toBe(text);
    expect(existsSync(workspace.path('audit/proof.salt'))).toBe(false);
  });

  test('it says who planned and who approved; the plan.json that was approved holds without Volley, and no other does', async () => {
    const proof = await anApprovedRun();

    const [plan, approval] = proof.entries;
    expect([plan, approval]).toMatchObject([
      { type: 'plan', plannedBy: 'ann' },
      { type: 'approval', name: 'Bob' },
    ]);
    const { code, stdout } = await proof.verify();
    expect([code, stdout]).toEqual([0, expect.stringContaining('approved by "Bob" on 20')]);
    expect(stdout).toContain('of the plan that was approved, --plan plan.json shows');
    expect(readFileSync(proof.printed.page, 'utf8')).toMatch(/planned<.*ann.*approved<.*Bob/s);

    const held = expect.stringContaining('plan.json: the plan is as the proof says');
    expect(await proof.verify('--plan', 'plan.json')).toEqual({ code: 0, stderr: '', stdout: held });
    const [step] = (plan as unknown as { steps: object[] }).steps;
    const forgeries: object[] = [
      { steps: [{ ...step, textSha256: digest('', 'Vote for Eve') }] },
      { steps: [{ ...step, sender: 'EVE' }] },
      { steps: [{ ...step, inputs: [{ file: 'vip.csv', rows: 3, sha256: digest('', 'x') }] }] },
      { plannedBy: 'eve' },
      { job: 'other' },
      { service: 'sandbox' },
      { retryOf: 'other' },
      { testOf: { plan: 'other', numbers: 1 } },
      { reviewedBy: 'everyone' },
    ];
    for (const change of oneIn(9, forgeries)) {
      const forged = chainOf(proof.entries.with(0, { ...plan, ...change } as Entry));
      expect((await proof.verifyForged(forged)).code).toBe(0);
      const [key] = Object.keys(change);
      const stderr = `plan.json does not hold: the proof says otherwise of the plan's ${key}\n`;
      expect(await proof.verifyForged(forged, '--plan', 'plan.json')).toEqual({ code: 1, stdout: '', stderr });
    }
    const other = proof.write(proof.read('plan.json').replace('Hi', 'Ho'));
    expect(await proof.verify('--plan', other)).toMatchObject(ANOTHER_PLAN);
  });

  test('one person can be looked up, with the salt of this run alone', async () => {
    const workspace = await aJobFor(people(20));
    const proof = await prove(workspace, (await workspace.run()).summary.directory);
    const find = async (number: string) => (await proof.verify('--salt', 'proof.salt', '--number', number)).stdout;

    expect(await find('+65 9100 0007')).toContain('+65 9100 0007: accepted (entry 14 (row 7 of step 1)');
    expect(await find('+6591000021')).toContain('+6591000021: not planned');
    const salt = proof.write(`${'0'.repeat(64)}\n`);
    expect(await proof.verify('--salt', salt, '1-sms.results.csv')).toMatchObject(refusedFor('salt of another run'));
  });

  test('a plan and an unfinished run have one that says so; of a pruned run it is refused, and its salt is gone', async () => {
    const { workspace } = await aStoppedRun();
    const run = workspace.firstRun();
    const proof = await prove(workspace, run);
    const { printed, entries } = proof;
    expect([printed.state, entries.at(-1)]).toMatchObject(['unfinished', { type: 'end', state: 'unfinished' }]);
    expect(readFileSync(printed.page, 'utf8')).toContain('The run is not finished');
    expect(await proof.verify()).toMatchObject({ code: 0, stdout: expect.stringContaining('"in-doubt":10') });

    await workspace.run();
    await workspace.settle(run, 'sent', 10);
    workspace.write('people.csv', people(3, 101));
    const ofPlan = await prove(workspace, await workspace.plan());
    expect([ofPlan.printed.state, (await ofPlan.verify()).code]).toEqual(['planned', 0]);

    expect((await workspace.told('prune', 'job.yaml', '--older-than', '0d')).pruned).toHaveLength(1);
    expect([existsSync(printed.salt), existsSync(printed.proof)]).toEqual([false, true]);
    await workspace.expectRefused(['proof', run], 2, 'bad-plan', 'pruned');
  });
});

/** The proof of a run that ann planned and Bob approved, signed. */
async function anApprovedRun(): Promise<Proof> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const approvers = [{ name: 'Bob', publicKey: publicKey.export({ format: 'pem', type: 'spki' }) }];
  const workspace = await aWorkspace();
  workspace.write('to +6591234567.csv', people(3));
  workspace.write('bob.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const steps = [anSmsStep({ input: { files: 'to *.csv' } })];
  workspace.change({ guards: { requireApproval: 1 }, approvers, steps });
  const as = (actor: string, ...args: string[]) => volleyIn(workspace, { env: { VOLLEY_ACTOR: actor } }, ...args);
  const { directory: run, planSha256 } = JSON.parse((await as('ann', 'plan', 'job.yaml')).stdout);
  expect((await as('bob', 'approve', run, '--confirm', planSha256, '--key-file', 'bob.pem')).code).toBe(0);
  expect((await as('cron', 'apply', run)).code).toBe(0);
  return prove(workspace, run);
}
