import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import { report } from '../../src/verbs/report.js';
import { status } from '../../src/verbs/status.js';
import { planJob, runJob } from '../command/give-verb.js';
import { oneIn } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';
import { MANNERS, type Manner, startEchoingService } from './an-echoing-service.js';
import { findLeaks, holdsSecret, NUMBER, readAll } from './canaries.js';

const LIMITS = { requestsPerSecond: 20 };
const input = { files: 'people.csv' };
const sms = { kind: 'sms', input, destination: 'mobile', template: { text: 'Hi {{ name }}' }, limits: LIMITS };
const handOff = { kind: 'conversations', input, user: { name: 'name' }, limits: LIMITS };
const channel = { name: 'Bot', queue: '101', webhook: { name: 'Events', url: 'https://example.com/events' } };
const STEPS: Readonly<Record<string, readonly object[]>> = {
  sms: [sms],
  contacts: [{ kind: 'contacts', input, fields: { firstName: 'name', msisdn: 'mobile' }, limits: LIMITS }],
  'verification.start': [{ kind: 'verification.start', input, destination: 'mobile', limits: LIMITS }],
  'verification.check': [{ kind: 'verification.check', input, session: 'session', code: 'code', limits: LIMITS }],
  conversations: [{ ...handOff, channel: '25', queue: '100' }],
  'a channel': [{ ...handOff, channel }],
  campaign: [{ kind: 'campaign', campaign: 101, set: 'PAUSED' }, sms],
  chat: [sms, { kind: 'chat', text: '{{ accepted }} sent', when: 'always' }],
};
const KINDS = Object.keys(STEPS);
const ALWAYS_WRITTEN = ['plan.json', 'journal.ndjson', 'summary.json'];

/** Plans a job, runs it, asks for its status and its report, and looks at every byte that was said or written. */
async function findLeaksOfRun(kind: string, manner: Manner): Promise<string[]> {
  const { service } = await startEchoingService(manner);
  const directory = aFolder({
    'sale.yaml': JSON.stringify({ service, steps: STEPS[kind], output: 'out' }),
    'people.csv': `name,mobile,session,code\nAnn,${NUMBER},s-1,123456\n`,
  });
  const job = join(directory, 'sale.yaml');

  const leaks: string[] = [];
  const watch = async (verb: string, isTerminal: boolean, command: (terminal: Terminal) => Promise<unknown>) => {
    const where = `of volley ${verb} with ${kind}, ${isTerminal ? 'on a terminal' : 'into a pipe'}`;
    leaks.push(...(await findLeaks(command, { isTerminal })).map((leak) => `${leak} ${where}`));
  };
  const isTerminal = (KINDS.indexOf(kind) + MANNERS.indexOf(manner)) % 2 === 0;
  await watch('plan', !isTerminal, (terminal) => planJob({ job, json: undefined }, terminal));
  await watch('run', isTerminal, (terminal) => runJob({ job, json: undefined }, terminal));
  const out = join(directory, 'out/sale');
  const flags = {
    run: join(out, readdirSync(out).find((name) => !/^(lock-|memory-|claims)/.test(name)) ?? ''),
    json: undefined,
  };
  for (const mode of [true, false]) {
    await watch('status', mode, (terminal) => runVerb('status', status, flags, terminal));
    await watch('report', mode, (terminal) => runVerb('report', report, { ...flags, campaign: undefined }, terminal));
  }
  const files = readAll(out);
  expect(files.map(([path]) => basename(path))).toEqual(expect.arrayContaining(ALWAYS_WRITTEN));
  for (const [path, text] of files) if (holdsSecret(text)) leaks.push(`a secret in ${basename(path)} of ${kind}`);
  return leaks;
}

describe('before a service that repeats the key, a number and what steers a terminal in every text, id and header', () => {
  const leaks = new Map<Manner, string[]>();
  beforeAll(async () => {
    // All at once: those that give up wait for most of their time.
    const find = async (manner: Manner) => {
      leaks.set(manner, (await Promise.all(oneIn(4, KINDS).map((kind) => findLeaksOfRun(kind, manner)))).flat());
    };
    await Promise.all(MANNERS.map(find));
  }, 120_000);

  test.each(MANNERS)(
    'and %s, no secret is said or written, no number stands in a log or an error, nothing steers the terminal',
    (manner) => {
      expect(leaks.get(manner)).toEqual([]);
    },
  );
});
