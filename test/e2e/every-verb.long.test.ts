import { cpSync, promises } from 'node:fs';
import { expect, test } from 'vitest';
import type { Env } from '../../src/command/env.js';
import { createFiles, type RawFiles } from '../../src/storage/files.js';
import { VERBS } from '../../src/verbs/verbs.js';
import { aService, KEYS } from '../command/a-single-call.js';
import { openConversation } from '../sandbox/gateway/gateway-client.js';
import { wrongCode } from '../sandbox/verification/verification-client.js';
import { aStepForTomorrow, people } from './a-job.js';
import { aJobFor, aWorkspaceInProcess, volleyIn, type Workspace } from './a-workspace.js';
import { type Ended, readFailure } from './command.js';
import { expectSaid, type SaidEnd } from './log-lines.js';

/** A job on which every verb has something to do, three of whose rows are in doubt, and a session that waits for its code. */
async function anEvening(): Promise<Workspace> {
  const workspace = await aWorkspaceInProcess({ kind: 'reset-after', area: 'sms', nth: 1 });
  workspace.write('people.csv', people(3));
  const { account, credentials, bases } = aService(workspace.sandbox.origin);
  const service = { account, credentials, bases };
  workspace.change({ service });
  workspace.change({ service, steps: [aStepForTomorrow()] }, 'tomorrow.yaml');
  return workspace;
}

/** What a verb says of itself, where nothing goes wrong; `args` come behind its name. One that only reads, or that is refused, has no reason. */
interface Said extends Omit<SaidEnd, 'code' | 'level' | 'reason'> {
  readonly args: readonly string[];
  readonly reason?: RegExp;
  readonly code?: number;
  readonly level?: SaidEnd['level'];
}

const NUMBER = '+6591000077';
const JOB = ['--job', 'job.yaml'];

/** In this order, in one workspace: later ones find what earlier ones made. */
const SAID: Readonly<Record<string, Said>> = {
  init: { args: ['people.csv'] },
  check: { args: ['job.yaml'] },
  preview: { args: ['job.yaml'] },
  plan: { args: ['job.yaml'], reason: /planned 3 rows/ },
  run: { args: ['job.yaml'], code: 3, level: 'warn', reason: /3 rows in doubt/, events: ['in-doubt'] },
  status: { args: ['job.yaml'] },
  runs: { args: ['job.yaml'] },
  'people show': { args: ['job.yaml', NUMBER] },

  settle: {
    args: ['job.yaml', '--assume', 'not-sent', '--confirm', '3'],
    reason: /settled 3 rows/,
    fields: { state: 'settled', notSent: 3, inDoubt: 0 },
  },
  retry: { args: ['job.yaml', '--only', 'not-sent', '--job', 'tomorrow.yaml'], reason: /planned 3 rows/ },
  apply: { args: ['PLAN'], reason: /every row accepted/ },
  report: { args: ['PLAN'], reason: /outputs were written again; the run is finished/ },
  cancel: { args: ['PLAN'], reason: /3 messages of 1 batch taken back/, fields: { cancelled: 3, kept: 0, inDoubt: 0 } },
  test: { args: ['job.yaml', '--to', NUMBER], reason: /every row accepted/, fields: { accepted: 1 } },
  'verify start': { args: [NUMBER, ...JOB], reason: /a code was sent, the session is WAITING/ },
  'verify check': {
    args: ['SESSION', 'WRONG', ...JOB],
    code: 1,
    level: 'warn',
    reason: /The code is wrong, 4 tries left/,
  },
  'campaign status': { args: ['101', ...JOB], reason: /the campaign is / },
  'campaign set': { args: ['101', 'PAUSED', ...JOB], reason: /./ },
  'chat post': { args: ['Done', ...JOB], reason: /posted to the room of the key/ },
  'chat read': { args: JOB, reason: /read 1 message$/ },
  'gateway webhook': { args: ['desk', 'http://127.0.0.1:9/', ...JOB], reason: /made webhook / },
  'gateway channel': { args: ['desk', '--webhook', 'WEBHOOK', '--queue', '101', ...JOB], reason: /made channel / },
  'gateway update': { args: ['CONVERSATION', '--queue', '102', ...JOB], reason: /took the change of conversation / },
  'gateway send': { args: ['CONVERSATION', 'Still there?', ...JOB], reason: /sent into conversation / },
  abandon: { args: ['PLAN'], code: 2, level: 'error', reason: /it is finished/ },
  proof: { args: ['PLAN'], reason: /./ },
  prune: { args: ['job.yaml', '--older-than', '0d'], reason: /pruned/ },
  approve: { args: ['PLAN', '--confirm', 'none'], code: 2 },
  // These go on until a signal, or need a database.
  listen: { args: ['--port', '99999'], code: 2 },
  console: { args: ['--port', '99999'], code: 2 },
  sandbox: { args: ['--port', '99999'], code: 2 },
  work: { args: ['job.yaml'], code: 2 },
  'cluster status': { args: ['--database-env', 'NONE'], code: 2 },
};

/** They print a text, as it is. */
const WITHOUT_OBJECT = ['help', 'schema'];

/** What stands for an id or a code that is known once another verb has made it. */
type Made = Record<string, string>;

async function noteMade(verb: string, stdout: string, { workspace, made }: { workspace: Workspace; made: Made }) {
  const { directory, sessionId, webhookId, channelId } = JSON.parse(stdout);
  if (verb === 'verify start') {
    const sent = (await workspace.ledger()).find((entry) => entry.area === 'verification');
    Object.assign(made, { SESSION: sessionId, WRONG: wrongCode(sent?.code ?? '') });
  }
  if (verb === 'retry') made.PLAN = directory;
  if (verb === 'gateway webhook') made.WEBHOOK = webhookId;
  if (verb === 'gateway channel') made.CONVERSATION = await openConversation(workspace.client, { channelId });
}

/** Whatever a command does, its stdout is one JSON object that says how it ended. */
function expectObject(ended: Ended, verb: string): void {
  if (![0, 1, 3].includes(Number(ended.code))) return void readFailure(ended);
  expect(ended.stdout, `${verb}: ${ended.stderr}`).toMatch(/^\{.*\}\n$/);
  const { state, exitCode, error } = JSON.parse(ended.stdout);
  expect([typeof state, exitCode], verb).toEqual(['string', ended.code]);
  if (ended.code === 0) expect(error, verb).toBeNull();
}

test('every verb prints one JSON object, and where it plans, sends, calls, changes or writes, a first and a last line on stderr', async () => {
  const held = [...Object.keys(SAID), ...WITHOUT_OBJECT].map((verb) => verb.split(' ')[0]);
  expect([...new Set(held)].sort()).toEqual([...VERBS].sort());
  const workspace = await anEvening();
  const made: Made = {};
  for (const [verb, { args, code = 0, level = 'info', reason, ...said }] of Object.entries(SAID)) {
    const given = args.map((arg) => made[arg] ?? arg);
    const ended = await volleyIn(workspace, { env: KEYS }, ...verb.split(' '), ...given);
    expect(ended.code, `${verb}: ${ended.stderr}`).toBe(code);
    expectObject(ended, verb);
    const fields = { command: verb, job: 'sale', ...said.fields };
    if (reason !== undefined) expectSaid(ended, { code, level, reason, ...said, fields });
    for (const secret of [NUMBER, made.WRONG ?? NUMBER, 'Still there?'])
      expect(ended.stderr, verb).not.toContain(secret);
    await noteMade(verb, ended.stdout, { workspace, made });
  }
});

test('every verb that is refused says so on stderr and stdout', async () => {
  const workspace = await aWorkspaceInProcess();
  workspace.write('job.yaml', 'name: ');
  for (const [verb, { args }] of Object.entries(SAID).filter(([, { reason }]) => reason !== undefined)) {
    const given = args.map((arg) => (arg === 'WRONG' ? '123456' : arg));
    const ended = await workspace.volley(...verb.split(' '), ...given);
    expectSaid(ended, { code: 2, level: 'error', reason: /Cannot |problems? in /, fields: { command: verb } });
    expect(JSON.parse(ended.stdout), verb).toMatchObject({ exitCode: 2, state: 'refused' });
  }
});

/** A number of a person, and a secret, that stand in what is read. */
const PERSON = '+6591000002';
const SECRET = 'hunter2-hunter2';

/** Each verb on a job or a run, as it is given where all is well. */
const ON_A_RUN: Readonly<Record<string, (run: string) => string[]>> = {
  run: () => ['run', 'job.yaml'],
  plan: () => ['plan', 'job.yaml', '--again'],
  apply: (run) => ['apply', run],
  status: (run) => ['status', run],
  report: (run) => ['report', run],
  settle: (run) => ['settle', run, '--assume', 'not-sent', '--confirm', '10'],
  retry: (run) => ['retry', run, '--only', 'rejected'],
};

/** A world whose disk fails so; or opens nothing. */
function failing(change: Partial<RawFiles>): Partial<Env> {
  return { files: createFiles({ ...promises, ...change }) };
}

const UNFORESEEN = failing({
  readFile: (async (path: string, ...more: []) => {
    if (!/job\.yaml$|plan\.json$/.test(path)) return promises.readFile(path, ...more);
    throw new TypeError(`of ${PERSON} and ${SECRET}`);
  }) as RawFiles['readFile'],
});

/** The lock cannot be written; nor can the journal be opened. */
const FULL_DISK = failing({
  open: async (path, ...more) => {
    if (!/lock-|journal/.test(String(path))) return promises.open(path, ...more);
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'open', path });
  },
});

/** An ended run of 50 rows: ten in doubt, and some that the service refused. */
async function anEndedRun(): Promise<{ workspace: Workspace; run: string }> {
  const faults = [
    { kind: 'reject-rows', nth: 1, rows: 0.1 },
    { kind: 'reset-after', nth: 2 },
  ] as const;
  const workspace = await aJobFor(people(50), {}, ...faults);
  expect((await workspace.run()).code).toBe(3);
  return { workspace, run: workspace.firstRun() };
}

test('every verb on a job or a run writes one JSON object where the disk is full (75) and where it fails unexpectedly (4); a person reads it on stderr', async () => {
  const { workspace, run } = await anEndedRun();
  for (const [verb, argsOf] of Object.entries(ON_A_RUN)) {
    const give = (runtime: Partial<Env>, ...more: string[]) =>
      volleyIn(workspace, { runtime }, ...argsOf(run), ...more);
    const full = readFailure(await give(FULL_DISK));
    expect(full, verb).toMatchObject({ state: 'stopped', exitCode: 75, error: { code: 'ENOSPC' } });
    expect(full.error.message).toContain(workspace.path('out/sale/'));
    expect(full.error.hint).toContain('run the same command');
    const read = await give(FULL_DISK, '--no-json');
    expect([read.code, read.stdout, read.stderr], verb).toEqual([75, '', expect.stringContaining('ENOSPC')]);

    const failed = await give(UNFORESEEN);
    expect(readFailure(failed)).toMatchObject({ state: 'failed', exitCode: 4, error: { code: 'unexpected' } });
    for (const secret of [PERSON.slice(3), SECRET]) expect(failed.stdout).not.toContain(secret);
  }
});

test.each(['run', 'plan'])(
  '%s that a guard stops (4) has the figures of the plan in its one object, too',
  async (verb) => {
    const guards = { maxRejectedPercent: 5, maxMessages: 8 };
    const workspace = await aJobFor(`${people(9)}Nobody,\n`, { guards });
    const stopped = { state: 'stopped', exitCode: 4, error: { code: 'guard' } };

    const failure = await workspace.refused(verb, 'job.yaml');

    expect(failure).toMatchObject({ ...stopped, job: 'sale', plan: workspace.plans()[0], steps: [{ number: 1 }] });
    const step = { file: 'step 1 (sms)', line: null };
    expect(failure.error.problems).toMatchObject([step, { file: 'plan', line: null }]);
    expect(await workspace.refused('apply', workspace.firstRun())).toMatchObject(stopped);
  },
);

test('a copy of a run is refused with one object', async () => {
  const { workspace, run } = await anEndedRun();
  cpSync(workspace.path(run), workspace.path('copy'), { recursive: true });
  expect(await workspace.refused('status', 'copy')).toMatchObject({ exitCode: 2, error: { code: 'bad-plan' } });
});
