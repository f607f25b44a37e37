import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { aRecorder } from '../service/a-recorder.js';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, volleyIn, type Workspace } from './a-workspace.js';
import { readFailure, until } from './command.js';
import { linesOf } from './log-lines.js';

/** A run of forty people that a 401 stopped: ten in doubt, ten accepted, twenty not sent. */
async function aStoppedRun(): Promise<{ workspace: Workspace; directory: string }> {
  const faults = [
    { kind: 'reset-after', area: 'sms', nth: 1 },
    { kind: 'status-401', area: 'sms', nth: 3 },
  ] as const;
  const workspace = await aJobFor(people(40), {}, ...faults);
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toMatchObject([4, { accepted: 10, inDoubt: 10, unprocessed: 20 }]);
  return { workspace, directory: workspace.firstRun() };
}

/** Every command that would go on from what the journal says. */
const COMMANDS: readonly ((directory: string) => readonly string[])[] = [
  () => ['run', 'job.yaml'],
  (directory) => ['apply', directory],
  (directory) => ['settle', directory, '--assume', 'sent', '--confirm', '10'],
  (directory) => ['retry', directory, '--only', 'unprocessed'],
  (directory) => ['report', directory],
];

function snapshot(workspace: Workspace): Record<string, string> {
  const path = workspace.path(workspace.firstRun());
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'latin1')]));
}

/** Every one of the commands ends with 4 and the words, sends nothing and writes nothing. */
async function expectRefusedByAll(workspace: Workspace, words: readonly string[], commands = COMMANDS): Promise<void> {
  const before = snapshot(workspace);
  const requests = workspace.requests().length;
  for (const command of commands) {
    const args = command(workspace.firstRun());
    const ended = await workspace.volley(...args);
    expect([args, readFailure(ended).exitCode]).toEqual([args, 4]);
    for (const text of words) expect(ended.stderr, args.join(' ')).toContain(text);
  }
  expect(workspace.requests()).toHaveLength(requests);
  expect(snapshot(workspace)).toEqual(before);
}

test.each(oneIn(2, [1, 3]))(
  'a byte that changed in line %i of the journal, on which later lines build, is named with its file',
  async (lineNumber) => {
    const { workspace, directory } = await aStoppedRun();
    const journal = `${directory}/journal.ndjson`;
    const lines = workspace.read(journal).split('\n');
    const offset = lines.slice(0, lineNumber - 1).reduce((bytes, line) => bytes + line.length + 1, 0);
    const bytes = Buffer.from(workspace.read(journal));
    const at = offset + Math.floor((lines[lineNumber - 1]?.length ?? 0) / 2);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    workspace.write(journal, bytes);

    await expectRefusedByAll(workspace, [`${journal}: the line at byte ${offset} is damaged`, 'Nothing was sent']);
  },
);

const LOSSES: readonly (readonly [string, (text: string) => string | undefined, string])[] = [
  ['is gone', () => undefined, 'journal.ndjson is gone'],
  ['lost its last line', (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1), 'its end is cut off'],
];

test.each(oneIn(2, LOSSES))(
  'a run whose journal %s is not described as one that sent less, and its outputs stay',
  async (_, change, why) => {
    const { workspace, directory } = await aStoppedRun();
    const journal = `${directory}/journal.ndjson`;
    const text = change(workspace.read(journal));
    if (text === undefined) rmSync(workspace.path(journal));
    else workspace.write(journal, text);

    const commands = ['status', 'report', 'proof', 'preview'].map((verb) => (run: string) => [verb, run]);
    await expectRefusedByAll(workspace, [why, 'Put the run back'], commands);
    const { runs } = await workspace.told('runs', 'job.yaml');
    expect(runs).toMatchObject([{ state: 'unreadable', problem: expect.stringContaining(why) }]);
    const { skipped } = await workspace.told('prune', 'job.yaml', '--older-than', '0h', '--adopt');
    expect(JSON.stringify(skipped)).not.toContain('never applied');
  },
);

test('a retry that was sent, and whose journal is gone since, is neither made again nor called unsent', async () => {
  const { workspace, directory } = await aStoppedRun();
  const retried = await workspace.resend(directory, 'unprocessed');
  const plan = `${retried.summary.directory}/plan.json`;
  const before = readFileSync(plan);
  rmSync(`${retried.summary.directory}/journal.ndjson`);
  const sent = await workspace.destinations();

  expect((await workspace.retry(directory, 'unprocessed')).state).toBe('nothing-to-retry');
  expect(readFileSync(plan)).toEqual(before);
  expect(await workspace.said('plan', 'job.yaml')).not.toContain('is not sent');
  await workspace.expectRefused(['report', directory, '--campaign'], 4, 'registry-mismatch');
  expect(await workspace.destinations()).toEqual(sent);
});

/** What may happen to a file on a disk, or by a careless hand. */
const DAMAGES: readonly (readonly [string, (text: string) => string | undefined])[] = [
  ['has another digit', (text) => text.replace(/(?<=\d)\d/, (digit) => String((Number(digit) + 1) % 10))],
  ['lost its end', (text) => text.slice(0, -40)],
  ['has a part twice', (text) => `${text.slice(0, text.length / 2)}${text}`],
  ['is gone', () => undefined],
];
const FILES = ['plan.json', '1-sms.rows.ndjson', '1-sms.requests.ndjson'];

test.each(
  oneIn(
    6,
    FILES.flatMap((name) => DAMAGES.map(([what, change]) => [name, what, change] as const)),
  ),
)('a file of a plan that was changed under a stopped run is named: %s %s', async (name, _, change) => {
  const { workspace, directory } = await aStoppedRun();
  const text = change(workspace.read(`${directory}/${name}`));
  if (text === undefined) rmSync(workspace.path(`${directory}/${name}`));
  else workspace.write(`${directory}/${name}`, text);
  // The outputs are made without a look at the requests.
  const commands = name.includes('requests') ? COMMANDS.slice(0, -1) : COMMANDS;

  await expectRefusedByAll(workspace, [`${directory}/${name}: `, 'Put the file back'], commands);
});

test('a run that cannot write who had what once it has sent ends with 4, not as one that did not start, and is advised to nothing that sends again', async () => {
  const workspace = await aJobFor(people(50), {}, { kind: 'latency', nth: [2], delayMs: 1500 });
  const running = volleyIn(workspace, {}, 'run', 'job.yaml');
  await until(() => workspace.requests().length === 2);
  renameSync(workspace.path('out/_people'), workspace.path('aside'));
  workspace.write('out/_people', '');

  const ended = await running;

  const { state, exitCode, error } = readFailure(ended);
  expect([ended.code, exitCode, state, error.code]).toEqual([4, 4, 'stopped', 'ENOTDIR']);
  expect(error.hint).not.toMatch(/othing was sent\.|output`/);
  rmSync(workspace.path('out/_people'));
  renameSync(workspace.path('aside'), workspace.path('out/_people'));
  expect((await workspace.run()).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(50));
});

test.each([
  ['run', 'stop.csv', { accepted: 30, inDoubt: 0, unprocessed: 20 }],
  ['apply', 'stop.csv', { accepted: 30, inDoubt: 0, unprocessed: 20 }],
  ['run', 'out', undefined],
])('%s says what became of the rows until %s was gone, where that can be read', async (verb, gone, balance) => {
  const { base: url, bodies } = await aRecorder();
  const workspace = await aJobFor(people(50), {}, { kind: 'latency', nth: [2], delayMs: 1500 });
  workspace.write('stop.csv', 'mobile\n+6581009999\n');
  const steps = [anSmsStep({ batchSize: 20, suppress: [{ files: 'stop.csv' }] })];
  workspace.change({ steps, notify: { url, on: ['failure'] } });
  const given = verb === 'run' ? 'job.yaml' : await workspace.plan();
  const running = volleyIn(workspace, {}, verb, given);
  await until(() => workspace.requests().length === 2);
  renameSync(workspace.path(gone), workspace.path('aside'));

  const { code, stdout, stderr } = await running;

  const [printed, posted, line] = [JSON.parse(stdout), JSON.parse(bodies.at(-1) ?? ''), linesOf(stderr).at(-1)];
  const { exitCode, error } = printed;
  expect([code, exitCode, posted.error.code]).toEqual([4, 4, error.code]);
  if (balance === undefined) {
    expect([printed.balance, posted.balance, line?.accepted]).toEqual([undefined, null, undefined]);
    return;
  }
  const [plan] = workspace.plans();
  expect(printed).toMatchObject({ plan, balance });
  expect(posted).toMatchObject({ run: plan, balance });
  expect(line).toMatchObject({ event: 'end', run: plan, ...balance });
});
