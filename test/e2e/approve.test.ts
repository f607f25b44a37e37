import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeRequestLine, encodeRequestLine } from '../../src/plan/format/plan-file.js';
import { readSealed, sealJson } from '../../src/plan/format/sealed-json.js';
import { oneIn } from '../one-in.js';
import { forgeMemory, memoryIn } from '../registry/memory-on-disk.js';
import { aJob, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { runCommandInProcess } from './command-in-process.js';
import { readFailure } from './failure.js';

const guards = { requireApproval: 1 };

/** A command, as a person gives it. */
function as(workspace: Workspace, person: string, ...args: string[]) {
  const env = { ...workspace.env, VOLLEY_ACTOR: person };
  return runCommandInProcess(args, { cwd: workspace.directory, env });
}

/** A job that asks for approval, planned by ann. */
async function aPlan(changes: Parameters<typeof aJob>[1] = {}) {
  const workspace = await aJobFor(people(30), { guards, ...changes });
  const { stdout } = await as(workspace, 'ann', 'plan', 'job.yaml');
  const { directory, planSha256, plannedBy } = JSON.parse(stdout);
  expect(plannedBy).toBe('ann');
  expect(planSha256).toBe(sha256Of(directory));
  const approve = (person: string, ...args: string[]) =>
    as(workspace, person, 'approve', directory, '--confirm', planSha256, ...args);
  const apply = () => as(workspace, 'cron', 'apply', directory);
  return { workspace, directory: String(directory), planSha256: String(planSha256), approve, apply };
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

test('a plan that asks for approval is sent once another person approved it, and says what to do until then', async () => {
  const { workspace, directory, planSha256, approve, apply } = await aPlan();

  const refused = readFailure(await apply());
  expect([refused.exitCode, refused.error.code]).toEqual([4, 'guard']);
  expect(refused.error.message).toMatch(
    /^Cannot send plan \w+: it has no approval, expected 1 \(guards\.requireApproval\)$/,
  );
  expect(refused.error.hint).toContain(
    `Another person than ann, who planned it, reviews it with \`volley preview ${directory}\` and approves it with \`volley approve ${directory} --confirm ${planSha256}\``,
  );
  expect(readFailure(await as(workspace, 'cron', 'run', 'job.yaml')).exitCode).toBe(4);

  for (const planner of ['ann', ' Ann ']) {
    const own = readFailure(await approve(planner));
    expect([own.exitCode, own.error.message]).toEqual([
      4,
      expect.stringMatching(/^Cannot approve plan \w+: ann planned it, expected another person$/),
    ]);
  }
  const other = await as(workspace, 'bob', 'approve', directory, '--confirm', 'f'.repeat(64));
  expect(readFailure(other)).toMatchObject({ exitCode: 2, error: { code: 'plan-mismatch' } });
  expect((await apply()).code).toBe(4);
  expect(workspace.requests()).toEqual([]);

  const approved = JSON.parse((await approve('bob')).stdout);
  expect(approved).toMatchObject({ state: 'approved', exitCode: 0, approvals: { count: 1, required: 1 } });
  expect(approved.approvals.given).toMatchObject([{ name: 'bob', by: expect.stringMatching(/^bob on /), fault: null }]);
  expect(JSON.parse((await approve('bob')).stdout).approvals.given).toHaveLength(1);

  const status = await as(workspace, 'eve', 'status', directory, '--no-json');
  expect(status.stdout).toMatch(/Planned by ann; plan\.json has the SHA-256\s+[0-9a-f]{64}\. It has 1 of\s+1 approval/);
  expect(status.stdout).toMatch(/bob \(bob on \S+\) on 20\d\d-/);
  expect((await as(workspace, 'eve', 'runs', 'job.yaml', '--no-json')).stdout).toContain('; 1 of 1 approval');
  expect((await apply()).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('an approval is of the requests too: with another text in one, and a checksum that fits, nothing is sent', async () => {
  const { workspace, directory, approve, apply } = await aPlan();
  expect((await approve('bob')).code).toBe(0);
  const path = `${directory}/1-sms.requests.ndjson`;
  const [line = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const { body, ...head } = decodeRequestLine(Buffer.from(line), path);
  const forged = Buffer.concat(encodeRequestLine(head, Buffer.from(body.toString().replace('Hi', 'Ho'))));
  writeFileSync(path, [forged.toString().trimEnd(), ...rest].join('\n'));

  const refused = readFailure(await apply());

  expect([refused.exitCode, refused.error.code]).toEqual([4, 'plan-damaged']);
  expect(workspace.requests()).toEqual([]);
});

test('`run` sends the plan that was approved: made again by another user, it is the same to the byte; the approval stays known once its rows are pruned', async () => {
  const { workspace, directory, planSha256, approve } = await aPlan();
  await approve('bob');

  expect((await as(workspace, 'cron', 'run', 'job.yaml')).code).toBe(0);

  expect(sha256Of(directory)).toBe(planSha256);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
  await as(workspace, 'ann', 'prune', 'job.yaml', '--older-than', '0h');
  const { record } = readSealed(readFileSync(join(directory, 'run.json'), 'utf8'));
  expect(record.approved).toMatchObject([{ planSha256, name: 'bob' }]);
});

test('an approval is of one plan.json: under other limits, or with one byte changed and sealed again, it counts no more', async () => {
  const { workspace, directory, approve, apply } = await aPlan();
  await approve('bob');
  workspace.writeJob(aJob(workspace, { guards: { ...guards, maxMessages: 50 } }));
  await as(workspace, 'ann', 'plan', 'job.yaml');

  expect(readFailure(await apply()).error.message).toContain(
    'it has no approval that counts; that of bob does not count: plan.json was another one',
  );

  workspace.writeJob(aJob(workspace, { guards }));
  await as(workspace, 'ann', 'plan', 'job.yaml');
  const path = join(directory, 'plan.json');
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, before.replace('"failOn": "rejections"', '"failOn": "rejectionz"'));
  expect(readFailure(await apply())).toMatchObject({ exitCode: 4, error: { code: 'plan-damaged' } });
  writeFileSync(path, sealJson({ ...readSealed(before), plannedBy: 'zoe' }));
  expect(readFailure(await apply())).toMatchObject({ exitCode: 4, error: { code: 'guard' } });
  expect(workspace.requests()).toEqual([]);
  writeFileSync(path, before);
  expect((await apply()).code).toBe(0);
});

test('a job that asks for less later takes nothing away: only letting the plan go does, with a name', async () => {
  const { workspace, directory } = await aPlan();
  workspace.writeJob(aJob(workspace));

  const refused = readFailure(await as(workspace, 'ann', 'run', 'job.yaml'));
  expect(refused).toMatchObject({ exitCode: 4, error: { code: 'guard' } });
  expect(refused.error.message).toContain(
    'it waits for approval (guards.requireApproval 1), and the job asks for less',
  );
  expect(readFailure(await as(workspace, 'ann', 'apply', directory)).exitCode).toBe(4);
  expect(workspace.requests()).toEqual([]);

  await as(workspace, 'ann', 'abandon', directory);
  expect((await as(workspace, 'ann', 'run', 'job.yaml')).code).toBe(0);
});

test('two approvals are of two people, and a plan of a retry needs its own', async () => {
  const { workspace, approve, apply } = await aPlan({ guards: { requireApproval: 2 } });
  const first = JSON.parse((await approve('bob')).stdout);
  expect(first).toMatchObject({ state: 'waiting', approvals: { count: 1, required: 2 } });
  await approve('BOB');
  expect(readFailure(await apply()).error.message).toContain('it has 1 approval, expected 2');
  await approve('cid');
  workspace.setFaults({ kind: 'reject-rows', nth: 1, rows: 1 });
  expect((await apply()).code).toBe(1);
  workspace.setFaults();

  const retried = JSON.parse((await as(workspace, 'bob', 'retry', 'job.yaml', '--only', 'rejected')).stdout);
  expect(readFailure(await as(workspace, 'bob', 'apply', retried.directory)).exitCode).toBe(4);
  for (const person of ['ann', 'cid'])
    await as(workspace, person, 'approve', retried.directory, '--confirm', retried.planSha256);
  expect((await as(workspace, 'bob', 'apply', retried.directory)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(30));
});

test('where the job names approvers, an approval is signed with the key of one of them', async () => {
  const workspace = await aJobFor(people(30));
  const [bob, cid] = [aKey(workspace, 'bob'), aKey(workspace, 'cid')];
  aKey(workspace, 'eve');
  const approvers = [
    { name: 'Bob', publicKey: bob },
    { name: 'Cid', publicKey: cid.replaceAll(/-----.*-----|\s/g, '') },
  ];
  workspace.writeJob(aJob(workspace, { guards, approvers }));
  const planned = JSON.parse((await as(workspace, 'ann', 'plan', 'job.yaml')).stdout);
  const approve = (person: string, ...args: string[]) =>
    as(workspace, person, 'approve', planned.directory, '--confirm', planned.planSha256, ...args);
  const codeOf = async (ended: ReturnType<typeof approve>) => readFailure(await ended).error.code;

  // The command that is advised names a key: its own is all that who approves has to put there.
  const flags = `--confirm ${planned.planSha256} --key-file KEY.pem`;
  const again = await as(workspace, 'ann', 'plan', 'job.yaml', '--no-json');
  expect(again.stdout).toMatch(new RegExp(`approve \\S+ ${flags}\n`));
  expect(readFailure(await as(workspace, 'cron', 'apply', planned.directory)).error.hint).toContain(`${flags}\``);
  expect(await codeOf(approve('Bob'))).toBe('bad-flag');
  expect(await codeOf(approve('Bob', '--key-file', 'eve.pem'))).toBe('bad-credentials');
  expect(await codeOf(approve('Bob', '--key-file', 'job.yaml'))).toBe('bad-credentials');
  expect(await codeOf(approve('Bob', '--key-file', 'nowhere.pem'))).toBe('bad-credentials');
  expect(await codeOf(approve('ann', '--key-file', 'cid.pem'))).toBe('guard');
  expect((await approve('whoever', '--key-file', 'cid.pem')).code).toBe(0);

  expect(readFileSync(memoryIn(workspace.path('out/sale')), 'utf8')).toContain('"name": "Cid"');
  expect((await as(workspace, 'cron', 'apply', planned.directory)).code).toBe(0);
});

function forgeApproval(workspace: Workspace, change: (approval: object) => object): void {
  forgeMemory(workspace.path('out/sale'), ({ runs, ...document }) => {
    return { ...document, runs: runs.map((run) => ({ ...run, approved: run.approved?.map(change) })) };
  });
}

/** One in 64 begins with any letter. */
const change = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;

const FORGERIES: readonly (readonly [string, (approval: never) => object, RegExp])[] = [
  [
    'signature',
    ({ signature, ...entry }: { signature: string }) => ({ ...entry, signature: change(signature) }),
    /valid/,
  ],
  ['name', (entry: object) => ({ ...entry, name: 'Cid' }), /not valid/],
  ['time', (entry: { at: number }) => ({ ...entry, at: entry.at + 1 }), /not valid/],
  ['absent signature', ({ signature: _, ...entry }: { signature: string }) => entry, /not valid/],
  ['unknown name', (entry: object) => ({ ...entry, name: 'Eve' }), /not given by an approver/],
];

test.each(oneIn(4, FORGERIES))(
  'an approval whose %s was changed in the memory does not count',
  async (_, forge, why) => {
    const workspace = await aJobFor(people(30));
    const approvers = [
      { name: 'Bob', publicKey: aKey(workspace, 'bob') },
      { name: 'Cid', publicKey: aKey(workspace, 'cid') },
    ];
    workspace.writeJob(aJob(workspace, { guards, approvers }));
    const { directory, planSha256 } = JSON.parse((await as(workspace, 'ann', 'plan', 'job.yaml')).stdout);
    await as(workspace, 'x', 'approve', directory, '--confirm', planSha256, '--key-file', 'bob.pem');

    forgeApproval(workspace, forge as (approval: object) => object);

    const refused = readFailure(await as(workspace, 'x', 'apply', directory, '--adopt'));
    expect([refused.exitCode, refused.error.message]).toEqual([4, expect.stringMatching(why)]);
    expect(workspace.requests()).toEqual([]);
  },
);

test('an approval in the name of who planned does not count, however it came into the memory', async () => {
  const { workspace, directory, approve } = await aPlan();
  await approve('bob');

  forgeApproval(workspace, (approval) => ({ ...approval, name: 'ANN' }));

  const refused = readFailure(await as(workspace, 'x', 'apply', directory, '--adopt'));
  expect([refused.exitCode, refused.error.message]).toEqual([4, expect.stringContaining('given by who planned it')]);
  expect(workspace.requests()).toEqual([]);
});

test('a plan that asks for no approval, a test, and what is finished have nothing to approve', async () => {
  const workspace = await aJobFor(people(30));
  const { directory, planSha256 } = JSON.parse((await as(workspace, 'ann', 'plan', 'job.yaml')).stdout);

  const refused = readFailure(await as(workspace, 'bob', 'approve', directory, '--confirm', planSha256));
  expect(refused).toMatchObject({ exitCode: 2, error: { code: 'bad-plan' } });

  const { workspace: other, directory: sent, approve, apply } = await aPlan();
  await approve('bob');
  await apply();
  expect(readFailure(await approve('cid')).error.message).toContain('it is finished');
  const tested = await as(other, 'ann', 'test', sent, '--to', '+6598000001');
  expect(tested.code).toBe(0);
});
