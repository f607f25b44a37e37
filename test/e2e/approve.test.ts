import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeRequestLine, encodeRequestLine } from '../../src/plan/format/plan-file.js';
import { readSealed, sealJson } from '../../src/plan/format/sealed-json.js';
import { oneIn } from '../one-in.js';
import { forgeMemory, memoryIn } from '../registry/memory-on-disk.js';
import { numbersOf, people } from './a-job.js';
import { aJobFor, volleyIn, type Workspace } from './a-workspace.js';
import { readFailure } from './command.js';

const guards = { requireApproval: 1 };

/** Commands, as a person gives them. */
function as(workspace: Workspace, person: string) {
  const give = (...args: string[]) => volleyIn(workspace, { env: { VOLLEY_ACTOR: person } }, ...args);
  return {
    give,
    told: async (...args: string[]) => JSON.parse((await give(...args)).stdout),
    refused: async (...args: string[]) => readFailure(await give(...args)),
  };
}

function sha256Of(directory: string): string {
  return createHash('sha256')
    .update(readFileSync(join(directory, 'plan.json')))
    .digest('hex');
}

/** The key file of a person, and the public key as the job has it. */
function aKey(workspace: Workspace, person: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  workspace.write(`${person}.pem`, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  return publicKey.export({ format: 'pem', type: 'spki' }).toString();
}

/** A job that asks for approval, planned by ann; bob and cid have keys, which count where the job names them. */
async function aPlan({ isSigned = false, ...changes }: Record<string, unknown> = {}) {
  const workspace = await aJobFor(people(30), { guards, ...changes });
  const [bob, cid] = [aKey(workspace, 'bob'), aKey(workspace, 'cid').replaceAll(/-----.*-----|\s/g, '')];
  const approvers = [
    { name: 'Bob', publicKey: bob },
    { name: 'Cid', publicKey: cid },
  ];
  if (isSigned) workspace.change({ guards, approvers });
  const { directory, planSha256, plannedBy } = await as(workspace, 'ann').told('plan', 'job.yaml');
  expect([plannedBy, planSha256]).toEqual(['ann', sha256Of(directory)]);
  const approval = ['approve', directory, '--confirm', planSha256];
  return {
    workspace,
    ...{ directory: String(directory), planSha256: String(planSha256) },
    approve: (person: string, ...flags: string[]) => as(workspace, person).told(...approval, ...flags),
    apply: async (...flags: string[]) => (await as(workspace, 'cron').give('apply', directory, ...flags)).code,
    /** Why it is not sent, nor anything else has been. */
    refused: async (...flags: string[]) => {
      const { exitCode, error } = await as(workspace, 'cron').refused('apply', directory, ...flags);
      expect([exitCode, workspace.requests()]).toEqual([4, []]);
      return error;
    },
  };
}

test('a plan that asks for approval is sent once another person approved it, and says what to do until then', async () => {
  const { workspace, directory, planSha256, approve, apply, refused } = await aPlan();

  const { code, message, hint } = await refused();
  expect(code).toBe('guard');
  expect(message).toMatch(/^Cannot send plan \w+: it has no approval, expected 1 \(guards\.requireApproval\)$/);
  expect(hint).toContain(
    `Another person than ann, who planned it, reviews it with \`volley preview ${directory}\` and approves it with \`volley approve ${directory} --confirm ${planSha256}\``,
  );
  expect((await as(workspace, 'cron').refused('run', 'job.yaml')).exitCode).toBe(4);

  const own = expect.stringMatching(/^Cannot approve plan \w+: ann planned it, expected another person$/);
  for (const planner of ['ann', ' Ann '])
    expect(await approve(planner)).toMatchObject({ exitCode: 4, error: { message: own } });
  const other = await as(workspace, 'bob').refused('approve', directory, '--confirm', 'f'.repeat(64));
  expect(other).toMatchObject({ exitCode: 2, error: { code: 'plan-mismatch' } });
  const unasked = await approve('bob', '--key-file', 'bob.pem');
  const error = { message: expect.stringContaining('the job names no approvers') };
  expect(unasked).toMatchObject({ exitCode: 2, error });
  await refused();

  const given = [{ name: 'bob', by: expect.stringMatching(/^bob on /), fault: null }];
  const approved = { state: 'approved', exitCode: 0, approvals: { count: 1, required: 1, given } };
  expect(await approve('bob')).toMatchObject(approved);
  expect(await approve('bob')).toMatchObject(approved);

  const { stdout } = await as(workspace, 'eve').give('status', directory, '--no-json');
  expect(stdout).toMatch(/Planned by ann; plan\.json has the SHA-256\s+[0-9a-f]{64}\. It has 1 of\s+1 approval/);
  expect(stdout).toMatch(/bob \(bob on \S+\) on 20\d\d-/);
  expect((await workspace.volley('runs', 'job.yaml', '--no-json')).stdout).toContain('; 1 of 1 approval');
  expect(await apply()).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('an approval is of the requests too: with another text in one, and a checksum that fits, nothing is sent', async () => {
  const { directory, approve, refused } = await aPlan();
  await approve('bob');
  const path = `${directory}/1-sms.requests.ndjson`;
  const [line = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const { body, ...head } = decodeRequestLine(Buffer.from(line), path);
  const forged = Buffer.concat(encodeRequestLine(head, Buffer.from(body.toString().replace('Hi', 'Ho'))));
  writeFileSync(path, [forged.toString().trimEnd(), ...rest].join('\n'));
  expect((await refused()).code).toBe('plan-damaged');
});

test('`run` sends the plan that was approved: made again by another user, it is the same to the byte; the approval stays known once its rows are pruned', async () => {
  const { workspace, directory, planSha256, approve } = await aPlan();
  await approve('bob');

  expect((await as(workspace, 'cron').give('run', 'job.yaml')).code).toBe(0);

  expect(sha256Of(directory)).toBe(planSha256);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
  await workspace.volley('prune', 'job.yaml', '--older-than', '0h');
  const { record } = readSealed(readFileSync(join(directory, 'run.json'), 'utf8'));
  expect(record.approved).toMatchObject([{ planSha256, name: 'bob' }]);
});

test('an approval is of one plan.json: under other limits, or with one byte changed and sealed again, it counts no more', async () => {
  const { workspace, directory, approve, apply, refused } = await aPlan();
  await approve('bob');
  const plan = () => as(workspace, 'ann').give('plan', 'job.yaml');
  workspace.change({ guards: { ...guards, maxMessages: 50 } });
  await plan();
  expect((await refused()).message).toContain(
    'it has no approval that counts; that of bob does not count: plan.json was another one',
  );

  workspace.change({ guards });
  await plan();
  const path = join(directory, 'plan.json');
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, before.replace('"failOn": "rejections"', '"failOn": "rejectionz"'));
  expect((await refused()).code).toBe('plan-damaged');
  writeFileSync(path, sealJson({ ...readSealed(before), plannedBy: 'zoe' }));
  expect((await refused()).code).toBe('guard');
  writeFileSync(path, before);
  expect(await apply()).toBe(0);
});

test('a job that asks for less later takes nothing away: only letting the plan go does, with a name', async () => {
  const { workspace, directory, refused } = await aPlan();
  workspace.change();

  const { exitCode, error } = await as(workspace, 'ann').refused('run', 'job.yaml');
  expect([exitCode, error.code]).toEqual([4, 'guard']);
  expect(error.message).toContain('it waits for approval (guards.requireApproval 1), and the job asks for less');
  await refused();

  await workspace.volley('abandon', directory);
  expect((await as(workspace, 'ann').give('run', 'job.yaml')).code).toBe(0);
});

test('two approvals are of two people, and a plan of a retry needs its own', async () => {
  const { workspace, approve, apply, refused } = await aPlan({ guards: { requireApproval: 2 } });
  expect(await approve('bob')).toMatchObject({ state: 'waiting', approvals: { count: 1, required: 2 } });
  await approve('BOB');
  expect((await refused()).message).toContain('it has 1 approval, expected 2');
  await approve('cid');
  workspace.setFaults({ kind: 'reject-rows', nth: 1, rows: 1 });
  expect(await apply()).toBe(1);

  const bob = as(workspace, 'bob');
  const { directory, planSha256 } = await bob.told('retry', 'job.yaml', '--only', 'rejected');
  expect((await bob.refused('apply', directory)).exitCode).toBe(4);
  for (const person of ['ann', 'cid']) await as(workspace, person).give('approve', directory, '--confirm', planSha256);
  expect((await bob.give('apply', directory)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('where the job names approvers, an approval is signed with the key of one of them', async () => {
  const { workspace, planSha256, approve, apply, refused } = await aPlan({ isSigned: true });
  aKey(workspace, 'eve');

  // The command that is advised names a key: its own is all that who approves has to put there.
  const flags = `--confirm ${planSha256} --key-file KEY.pem`;
  const again = await as(workspace, 'ann').give('plan', 'job.yaml', '--no-json');
  expect(again.stdout).toMatch(new RegExp(`approve \\S+ ${flags}\n`));
  expect((await refused()).hint).toContain(`${flags}\``);
  for (const [person, keyFile, code] of [
    ['Bob', [], 'bad-flag'],
    ['Bob', ['--key-file', 'eve.pem'], 'bad-credentials'],
    ['Bob', ['--key-file', 'job.yaml'], 'bad-credentials'],
    ['Bob', ['--key-file', 'nowhere.pem'], 'bad-credentials'],
    ['ann', ['--key-file', 'cid.pem'], 'guard'],
  ] as const) {
    expect((await approve(person, ...keyFile)).error.code).toBe(code);
  }
  expect((await approve('whoever', '--key-file', 'cid.pem')).exitCode).toBe(0);

  expect(readFileSync(memoryIn(workspace.path('out/sale')), 'utf8')).toContain('"name": "Cid"');
  expect(await apply()).toBe(0);
});

/** One in 64 begins with any letter. */
const change = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;

type Approval = { readonly signature: string; readonly at: number };

/** What was changed of an approval, whether the job names who may give one, and why it does not count. */
const FORGERIES: readonly (readonly [string, boolean, (approval: Approval) => object, RegExp])[] = [
  ['signature', true, ({ signature }) => ({ signature: change(signature) }), /valid/],
  ['name', true, () => ({ name: 'Cid' }), /not valid/],
  ['time', true, ({ at }) => ({ at: at + 1 }), /not valid/],
  ['absent signature', true, () => ({ signature: undefined }), /not valid/],
  ['unknown name', true, () => ({ name: 'Eve' }), /not given by an approver/],
  ['name, for that of who planned', false, () => ({ name: 'ANN' }), /given by who planned it/],
];

test.each(oneIn(4, FORGERIES))(
  'an approval whose %s was changed in the memory does not count',
  async (_, isSigned, forge, why) => {
    const { workspace, approve, refused } = await aPlan({ isSigned });
    await approve('bob', ...(isSigned ? ['--key-file', 'bob.pem'] : []));

    forgeMemory(workspace.path('out/sale'), ({ runs, ...document }) => {
      const forged = (approval: object) => ({ ...approval, ...forge(approval as Approval) });
      return { ...document, runs: runs.map((run) => ({ ...run, approved: run.approved?.map(forged) })) };
    });

    expect((await refused('--adopt')).message).toMatch(why);
  },
);

test('a plan that asks for no approval, a test, and what is finished have nothing to approve', async () => {
  const workspace = await aJobFor(people(30));
  const { directory, planSha256 } = await as(workspace, 'ann').told('plan', 'job.yaml');
  const refused = await as(workspace, 'bob').refused('approve', directory, '--confirm', planSha256);
  expect(refused).toMatchObject({ exitCode: 2, error: { code: 'bad-plan' } });

  const { workspace: other, directory: sent, approve, apply } = await aPlan();
  await approve('bob');
  await apply();
  expect((await approve('cid')).error.message).toContain('it is finished');
  expect((await as(other, 'ann').give('test', sent, '--to', '+6598000001')).code).toBe(0);
});
