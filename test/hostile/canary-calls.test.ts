import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Terminal } from '../../src/command/terminal.js';
import { setCampaign, showCampaign } from '../../src/commands/campaign.js';
import { postChat, readChat } from '../../src/commands/chat.js';
import { changeConversation, makeChannel, makeWebhook, sendToConversation } from '../../src/commands/gateway.js';
import { checkVerification, startVerification } from '../../src/commands/verification.js';
import { aFastDirectory } from './a-fast-directory.js';
import { type Manner, startEchoingService } from './an-echoing-service.js';
import { CREDENTIALS, findLeaks, NUMBER, STEERING } from './canaries.js';

type Call = (flags: { job: string; json: boolean | undefined }, terminal: Terminal) => Promise<number>;

const NOTHING = { brand: undefined, template: undefined, source: undefined, country: undefined };
const UNCHANGED = { name: undefined, email: undefined, phone: undefined, language: undefined };
const url = 'https://example.com/events';
const CALLS: Readonly<Record<string, Call>> = {
  'verify start': (flags, terminal) => startVerification({ ...flags, ...NOTHING, number: NUMBER }, terminal),
  'verify check': (flags, terminal) => checkVerification({ ...flags, session: 's-1', code: '123456' }, terminal),
  'campaign status': (flags, terminal) => showCampaign({ ...flags, id: '101' }, terminal),
  'campaign set': (flags, terminal) => setCampaign({ ...flags, id: '101', target: 'PAUSED' }, terminal),
  'chat read': (flags, terminal) => readChat({ ...flags, room: undefined, pageSize: undefined }, terminal),
  'chat post': (flags, terminal) => postChat({ ...flags, room: undefined, text: 'Hi' }, terminal),
  'gateway webhook': (flags, terminal) => makeWebhook({ ...flags, name: 'Events', url, version: undefined }, terminal),
  'gateway channel': (flags, terminal) =>
    makeChannel({ ...flags, name: 'Bot', webhook: '1', queue: '101', description: undefined }, terminal),
  'gateway update': (flags, terminal) =>
    changeConversation({ ...flags, ...UNCHANGED, conversation: 'c-1', queue: '101' }, terminal),
  'gateway send': (flags, terminal) => sendToConversation({ ...flags, conversation: 'c-1', text: 'Hi' }, terminal),
};
const MANNERS: readonly Manner[] = [
  'takes',
  'refuses',
  'refuses the key',
  'redirects',
  'turns away',
  'answers with a page',
];

async function findLeaksOfCalls(manner: Manner): Promise<string[]> {
  const service = await startEchoingService(manner, `${NUMBER} ${STEERING}`);
  const { directory, remove } = aFastDirectory();
  onTestFinished(() => {
    service.close();
    remove();
  });
  const { origin } = service;
  const bases = { verification: origin, gateway: origin, campaign: origin, chat: origin };
  const job = join(directory, 'calls.yaml');
  const settings = { account: 'acme', credentials: CREDENTIALS, bases, giveUpAfterSeconds: 0 };
  writeFileSync(job, JSON.stringify({ service: settings, output: 'out' }));

  const found = Object.entries(CALLS).flatMap(([verb, call]) =>
    [true, false].map(async (isTerminal) => {
      const command = (terminal: Terminal) => call({ job, json: undefined }, terminal);
      const leaks = await findLeaks(command, { isTerminal });
      return leaks.map((leak) => `${leak} of volley ${verb}, ${isTerminal ? 'on a terminal' : 'into a pipe'}`);
    }),
  );
  return (await Promise.all(found)).flat();
}

describe('a single call to a service that repeats the key, a number and what steers a terminal', () => {
  test.each(MANNERS)(
    'and %s, says no secret, no number in a log or an error, and nothing that steers',
    async (manner) => {
      expect(await findLeaksOfCalls(manner)).toEqual([]);
    },
  );
});
