import { describe, expect, test } from 'vitest';
import { VERBS } from '../../src/verbs/verbs.js';
import { aService, KEYS } from '../command/a-single-call.js';
import { wrongCode } from '../sandbox/verification/verification-client.js';
import { aJob, anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess, volleyIn, type Workspace } from './a-workspace.js';
import { expectSaid, type SaidEnd } from './log-lines.js';

/** A job on which every verb has something to do, three of whose rows are in doubt, and a session that waits for its code. */
async function anEvening(): Promise<Workspace> {
  const workspace = await aWorkspaceInProcess({ kind: 'reset-after', area: 'sms', nth: 1 });
  workspace.write('people.csv', people(3));
  const { account, credentials, bases } = aService(workspace.sandbox.origin);
  const jobOf = (about: object) => {
    const steps = [anSmsStep({ template: { source: 'ACME', text: 'Hi {{ name }}', ...about } })];
    return aJob(workspace, { steps, service: { account, credentials, bases } });
  };
  workspace.writeJob(jobOf({}));
  // So that it can be taken back.
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  workspace.writeJob(jobOf({ scheduled: tomorrow }), 'tomorrow.yaml');
  return workspace;
}

/** What a verb says of itself, where nothing goes wrong; `args` come behind its name. */
interface Said extends Omit<SaidEnd, 'code' | 'level'> {
  readonly args: readonly string[];
  readonly code?: number;
  readonly level?: SaidEnd['level'];
}

const NUMBER = '+6591000077';
const JOB = ['--job', 'job.yaml'];

/** In this order, in one workspace: later ones find what earlier ones made. */
const SAID: Readonly<Record<string, Said>> = {
  plan: { args: ['job.yaml'], reason: /planned 3 rows/ },
  run: { args: ['job.yaml'], code: 3, level: 'warn', reason: /3 rows in doubt/, events: ['in-doubt'] },
  report: { args: ['job.yaml'], reason: /outputs were written again; the run is finished; 3 rows in doubt/ },
  settle: {
    args: ['job.yaml', '--assume', 'not-sent', '--confirm', '3'],
    reason: /settled 3 rows/,
    fields: { state: 'settled', notSent: 3, inDoubt: 0 },
  },
  retry: { args: ['job.yaml', '--only', 'not-sent', '--job', 'tomorrow.yaml'], reason: /planned 3 rows/ },
  apply: { args: ['PLAN'], reason: /every row accepted/ },
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
};

/**
 * They read, or write a job file; listen, sandbox, console and work serve until a signal, and listen is below; work and cluster need a database, approve
 * and people opt-out a job of their own.
 */
const OTHERS = [
  'approve',
  'people',
  'status',
  'runs',
  'init',
  'check',
  'preview',
  'schema',
  'sandbox',
  'console',
  'listen',
  'help',
  'work',
  'cluster',
];

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
  if (verb === 'gateway channel') made.CONVERSATION = await openConversation(workspace, channelId);
}

async function openConversation({ sandbox }: Workspace, channelId: string): Promise<string> {
  const answer = await fetch(`${sandbox.origin}/chat-gateway/v1/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': sandbox.credentials.gatewayKey },
    body: JSON.stringify({ channelId, user: { name: 'Ann' } }),
  });
  return ((await answer.json()) as { conversationId: string }).conversationId;
}

describe('stderr alone tells why a command ended', () => {
  test('every verb is held to it, or only reads or serves', () => {
    const held = [...Object.keys(SAID), ...OTHERS].map((verb) => verb.split(' ')[0]);
    expect([...new Set(held)].sort()).toEqual([...VERBS].sort());
  });

  test('each verb that plans, sends, calls, changes or writes has a first and a last line', async () => {
    const workspace = await anEvening();
    const made: Made = {};
    for (const [verb, { args, code = 0, level = 'info', ...said }] of Object.entries(SAID)) {
      const given = args.map((arg) => made[arg] ?? arg);
      const ended = await volleyIn(workspace, { env: KEYS }, ...verb.split(' '), ...given);
      const fields = { command: verb, job: 'sale', ...said.fields };
      const lines = expectSaid(ended, { code, level, ...said, fields });
      for (const secret of [NUMBER, made.WRONG ?? NUMBER, 'Still there?']) {
        expect(JSON.stringify(lines), verb).not.toContain(secret);
      }
      await noteMade(verb, ended.stdout, { workspace, made });
    }
  });

  test.each(Object.entries(SAID))('%s that is refused', async (verb, { args }) => {
    const workspace = await aWorkspaceInProcess();
    workspace.write('job.yaml', 'name: ');
    const given = args.map((arg) => (arg === 'WRONG' ? '123456' : arg));

    const ended = await workspace.volley(...verb.split(' '), ...given);

    expectSaid(ended, { code: 2, level: 'error', reason: /Cannot |problems? in /, fields: { command: verb } });
    expect(JSON.parse(ended.stdout)).toMatchObject({ exitCode: 2, state: 'refused' });
  });

  test.each<[string, object, Omit<SaidEnd, 'level'>]>([
    ['refuses it', { kind: 'status-400' }, { code: 1, reason: /HTTP 400|code/, fields: { code: 'refused' } }],
    ['loses its answer', { kind: 'reset-after' }, { code: 3, reason: /./, fields: { code: 'in-doubt' } }],
  ])('a call to a service that %s', async (_name, fault, said) => {
    const workspace = await anEvening();
    workspace.setFaults(fault as Parameters<Workspace['setFaults']>[0]);
    const ended = await volleyIn(workspace, { env: KEYS }, 'verify', 'start', NUMBER, ...JOB);
    expectSaid(ended, { level: 'warn', ...said });
  });

  test('listen that a signal ends', async () => {
    const workspace = await aWorkspaceInProcess();
    const running = workspace.start(['listen', '--port', '0', '--output', 'events.ndjson']);
    await running.firstLine();
    running.signal('SIGTERM');
    expectSaid(await running.ended, {
      code: 0,
      level: 'info',
      reason: /a signal came; 0 events received/,
      fields: { command: 'listen', received: 0 },
    });
  });
});
