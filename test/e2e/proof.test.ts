import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { chainOf, prove, readEntries, verifyProof } from './a-proof.js';
import { aStoppedRun } from './a-stopped-run.js';
import { aJobFor, aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { runCommandInProcess } from './command-in-process.js';

const digest = (salt: string, text: string | Buffer) => createHash('sha256').update(salt).update(text).digest('hex');

/** The salted digests of the numbers of rows that were accepted. */
function readAccepted(directory: string): unknown[] {
  const entries = readEntries(readFileSync(join(directory, 'proof.json'), 'utf8'));
  return entries.flatMap(({ type, status, number }) => (type === 'row' && status === 'accepted' ? [number] : []));
}

describe.concurrent('the proof of a run', () => {
  test('of a run that was killed, settled and retried it says what the ledger says, and holds without Volley', async () => {
    const { workspace } = await aStoppedRun();
    expect((await workspace.run()).code).toBe(3);
    const run = workspace.firstRun();
    const doubt = await prove(workspace, run);
    expect((await verifyProof(doubt.directory, 'proof.json', '--head', doubt.printed.head)).stderr).toBe('');
    const plan = join(workspace.path(run), 'plan.json');
    expect(await verifyProof(doubt.directory, 'proof.json', '--plan', plan)).toMatchObject({ code: 0 });
    writeFileSync(join(doubt.directory, 'other.json'), `${readFileSync(plan, 'utf8')} `);
    expect(await verifyProof(doubt.directory, 'proof.json', '--plan', 'other.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('other.json does not hold: it is another plan, or was changed'),
    });

    const settled = await workspace.volley('settle', run, '--assume', 'not-sent', '--confirm', '10');
    expect(settled.code).toBe(0);
    const retried = await workspace.told('retry', run, '--only', 'not-sent');
    expect((await workspace.volley('apply', retried.directory)).code).toBe(0);

    const sent: string[] = [];
    for (const each of [run, retried.directory]) {
      const { directory, printed } = await prove(workspace, each);
      const salt = readFileSync(printed.salt, 'utf8').trim();
      const checked = await verifyProof(directory, 'proof.json', '--salt', 'proof.salt', '1-sms.results.csv');
      expect(checked).toMatchObject({ code: 0, stderr: '' });
      const numbers = new Map<unknown, string>(numbersOf(30).map((number) => [digest(salt, number.slice(1)), number]));
      sent.push(...readAccepted(directory).map((number) => numbers.get(number) ?? 'another'));
    }

    // The request that was killed did reach the sandbox: a person said that it was not sent.
    expect(new Set(await workspace.destinations())).toEqual(new Set(sent));
    expect(sent.toSorted()).toEqual(numbersOf(30));
    const before = readEntries(readFileSync(join(workspace.path(run), 'proof.json'), 'utf8'));
    expect(before.map(({ type }) => type)).toEqual(expect.arrayContaining(['settled', 'claimed', 'closed']));
    expect(before.find(({ type }) => type === 'balance')).toMatchObject({
      planned: 30,
      outcomes: { accepted: 20, 'not-sent': 10, 'in-doubt': 0 },
    });
    expect(before.filter(({ claimedBy }) => claimedBy === retried.plan)).toHaveLength(10);
  });

  test('it holds no number, and a second one of the same run is the same, byte for byte', async () => {
    const workspace = await aJobFor(`${people(20)}Bad,+65 1\nAgain,${numberOf(1)}\n`);
    const { summary } = await workspace.run();
    const { directory, printed } = await prove(workspace, summary.directory);
    const texts = ['proof.json', 'proof.html'].map((name) => readFileSync(join(directory, name), 'utf8'));

    for (const text of texts) expect(text).not.toMatch(/91000\d{3}|P1\b/);
    expect(texts[1]).toContain(printed.head);
    expect(statSync(printed.salt).mode & 0o777).toBe(0o600);
    expect(texts.join()).not.toContain(readFileSync(printed.salt, 'utf8').trim());

    const again = await workspace.volley('proof', 'job.yaml', '--output', 'audit');
    expect(JSON.parse(again.stdout)).toMatchObject({ head: printed.head, state: 'finished' });
    expect(workspace.read('audit/proof.json')).toBe(texts[0]);
    expect(existsSync(workspace.path('audit/proof.salt'))).toBe(false);
    expect((await verifyProof(workspace.path('audit'))).code).toBe(0);
  });

  test('it says who planned and who approved: the signature of an approval, and what it says of the plan.json that was approved, hold without Volley', async () => {
    const { directory, printed, verify, verifyForged } = await anApprovedRun();

    const text = readFileSync(printed.proof, 'utf8');
    expect(readEntries(text).slice(0, 2)).toMatchObject([
      { type: 'plan', plannedBy: 'ann' },
      { type: 'approval', name: 'Bob' },
    ]);
    const checked = await verify('proof.json');
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('approved by "Bob" on 20')]);
    expect(checked.stdout).toContain('of the plan that was approved, --plan plan.json shows');
    expect(readFileSync(printed.page, 'utf8')).toMatch(/planned<.*ann.*approved<.*Bob/s);
    const forged = await verifyForged('approval', { name: 'Eve' });
    expect([forged.code, forged.stderr]).toEqual([1, expect.stringContaining('signature is not of the key of Eve')]);

    const held = await verify('proof.json', '--plan', 'plan.json');
    expect([held.code, held.stderr, held.stdout]).toEqual([
      0,
      '',
      expect.stringContaining('plan.json: the plan is as the proof says'),
    ]);
    const plan = readEntries(readFileSync(join(directory, 'proof.json'), 'utf8'))[0] as unknown as ProvenPlan;
    const [step = {}] = plan.steps;
    const forgeries: [object, string][] = [
      [{ steps: [{ ...step, textSha256: digest('', 'Vote for Eve') }] }, 'steps'],
      [{ steps: [{ ...step, sender: 'EVE' }] }, 'steps'],
      [{ steps: [{ ...step, inputs: [{ file: 'vip.csv', rows: 3, sha256: digest('', 'x') }] }] }, 'steps'],
      [{ plannedBy: 'eve' }, 'plannedBy'],
      [{ job: 'other' }, 'job'],
      [{ service: 'sandbox' }, 'service'],
      [{ retryOf: 'other' }, 'retryOf'],
      [{ testOf: { plan: 'other', numbers: 1 } }, 'testOf'],
      [{ reviewedBy: 'everyone' }, 'reviewedBy'],
    ];
    for (const [change, key] of oneIn(9, forgeries)) {
      expect((await verifyForged('plan', change)).code).toBe(0);
      const refused = await verifyForged('plan', change, '--plan', 'plan.json');
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([
        1,
        '',
        `plan.json does not hold: the proof says otherwise of the plan's ${key}\n`,
      ]);
    }
    writeFileSync(
      join(directory, 'other.json'),
      readFileSync(join(directory, 'plan.json'), 'utf8').replace('Hi', 'Ho'),
    );
    const other = await verify('proof.json', '--plan', 'other.json');
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('it is another plan, or was changed')]);
  });

  test('one person can be looked up, with the salt of this run alone', async () => {
    const workspace = await aJobFor(people(20));
    const { summary } = await workspace.run();
    const { directory } = await prove(workspace, summary.directory);
    const salted = ['proof.json', '--salt', 'proof.salt'];

    const found = await verifyProof(directory, ...salted, '--number', '+65 9100 0007');
    expect(found.stdout).toContain('+65 9100 0007: accepted (entry 14 (row 7 of step 1)');
    const missed = await verifyProof(directory, ...salted, '--number', '+6591000021');
    expect(missed.stdout).toContain('+6591000021: not planned');

    writeFileSync(join(directory, 'other.salt'), `${'0'.repeat(64)}\n`);
    const other = await verifyProof(directory, 'proof.json', '--salt', 'other.salt', '1-sms.results.csv');
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('salt of another run')]);
  });

  test('a plan and an unfinished run have one that says so; of a pruned run it is refused, and its salt is gone', async () => {
    const { workspace, run } = await aStoppedRun();
    const { directory, printed } = await prove(workspace, `out/sale/${run}`);
    expect(printed.state).toBe('unfinished');
    const text = readFileSync(printed.proof, 'utf8');
    expect(readEntries(text).at(-1)).toMatchObject({ type: 'end', state: 'unfinished' });
    expect(readFileSync(printed.page, 'utf8')).toContain('The run is not finished');
    const checked = await verifyProof(directory, 'proof.json');
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('"in-doubt":10')]);

    await workspace.run();
    await workspace.volley('settle', `out/sale/${run}`, '--assume', 'sent', '--confirm', '10');
    workspace.write('people.csv', people(3, 101));
    const planned = await workspace.told('plan', 'job.yaml');
    const ofPlan = await prove(workspace, planned.directory);
    expect([ofPlan.printed.state, (await verifyProof(ofPlan.directory)).code]).toEqual(['planned', 0]);

    const pruned = await workspace.volley('prune', 'job.yaml', '--older-than', '0d');
    expect(JSON.parse(pruned.stdout).pruned).toHaveLength(1);
    expect([existsSync(printed.salt), existsSync(printed.proof)]).toEqual([false, true]);
    const refused = await workspace.volley('proof', `out/sale/${run}`);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/pruned/)]);
  });
});

type ProvenPlan = { readonly steps: readonly object[] };

/** A run that ann planned and Bob approved, signed; `verifyForged`: one chain with another entry of that type, or without it. */
async function anApprovedRun() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const approvers = [{ name: 'Bob', publicKey: publicKey.export({ format: 'pem', type: 'spki' }) }];
  const workspace = await aWorkspace();
  workspace.write('to +6591234567.csv', people(3));
  workspace.write('bob.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const steps = [anSmsStep({ input: { files: 'to *.csv' } })];
  workspace.change({ guards: { requireApproval: 1 }, approvers, steps });
  const as = (actor: string, ...args: string[]) =>
    runCommandInProcess(args, { cwd: workspace.directory, env: { ...workspace.env, VOLLEY_ACTOR: actor } });
  const planned = JSON.parse((await as('ann', 'plan', 'job.yaml')).stdout);
  const { directory: run, planSha256 } = planned;
  expect((await as('bob', 'approve', run, '--confirm', planSha256, '--key-file', 'bob.pem')).code).toBe(0);
  expect((await as('cron', 'apply', run)).code).toBe(0);
  const { directory, printed } = await prove(workspace, run);
  const verify = (...args: string[]) => verifyProof(directory, ...args);
  const verifyForged = (type: string, change: object, ...args: string[]) => {
    const entries = readEntries(readFileSync(printed.proof, 'utf8'));
    const forged = entries.map((entry) => (entry.type === type ? { ...entry, ...change } : entry));
    writeFileSync(join(directory, 'forged.json'), chainOf(forged.filter((entry) => entry.type !== undefined)));
    return verify('forged.json', ...args);
  };
  return { directory, printed, planSha256, run: planned.plan, verify, verifyForged };
}
