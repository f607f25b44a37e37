import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SecretKeeper } from '../../src/command/terminal.js';
import { byArea } from '../../src/domain/areas.js';
import { createHost } from '../../src/library/program-host.js';
import { apply, createService, type Log, plan, type Service, type WrittenJob } from '../../src/library.js';
import { oneIn } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';
import { ENDS, startEchoingService } from './an-echoing-service.js';
import { CREDENTIALS, holdsNumber, holdsSecret, NUMBER, SECRETS } from './canaries.js';

/** What a program got from the library: its log, its notices, and what was thrown, with all that `inspect` shows of it. */
function aProgram() {
  const told: string[] = [];
  const tell = (...values: unknown[]) => {
    told.push(inspect(values, { depth: 9 }), JSON.stringify(values));
  };
  const log: Log = { info: tell, warn: tell, error: tell };
  return {
    told,
    options: { log, onNotice: tell, env: SECRETS },
    /** What the work comes to; undefined when it threw. */
    async watch<T>(work: () => T | Promise<T>): Promise<T | undefined> {
      try {
        return await work();
      } catch (error) {
        const { message, stack, ...rest } = error as Error;
        tell(error, message, stack, rest);
        return undefined;
      }
    },
    leaks: () => [
      ...told.filter(holdsSecret).map((text) => `a secret: ${text}`),
      ...told.filter(holdsNumber).map((text) => `a number: ${text}`),
    ],
  };
}

const smsStep = (changes: object = {}) => ({
  kind: 'sms',
  input: { files: 'people.csv' },
  destination: 'mobile',
  template: { text: 'Hi {{ name }}' },
  ...changes,
});

const BASES = byArea(() => 'http://127.0.0.1:1');
const NOWHERE = { account: 'acme', credentials: CREDENTIALS, bases: BASES };
const aJob = (steps: readonly object[], service: object = NOWHERE) =>
  ({ name: 'sale', service, steps, output: 'out' }) as WrittenJob;

/** A first row that is taken for the names of the columns holds people. */
const HEADLESS = `Ann,${NUMBER}\nBob,${NUMBER.replace(/.$/, '8')}\n`;

test.each([
  ['a file without a header', HEADLESS, smsStep()],
  ['a file whose names of columns stand twice', `${NUMBER},${NUMBER}\nAnn,1\n`, smsStep()],
  ['a column that is named for a number', 'name,mobile\nAnn,1\n', smsStep({ destination: NUMBER })],
  [
    'a text that needs a column named for a number',
    'name,mobile\nAnn,1\n',
    smsStep({ template: { text: `{{ ["${NUMBER}"] }}` } }),
  ],
  ['a key that is a number', 'name,mobile\nAnn,1\n', smsStep({ [NUMBER]: 1 })],
  ['a file named for a number', 'name,mobile\nAnn,1\n', smsStep({ input: { files: `${NUMBER}.csv` } })],
])('plan rejects for %s without a number in what it throws or logs', async (_, people, step) => {
  const program = aProgram();
  const directory = aFolder({ 'people.csv': people });

  expect(await program.watch(() => plan(aJob([step]), { ...program.options, directory }))).toBeUndefined();
  expect(program.leaks()).toEqual([]);
});

describe.each(oneIn(2, ENDS))('before a service that repeats the key and a number, and %s', (manner) => {
  test('plan and apply throw and log no secret and no number', async () => {
    const program = aProgram();
    const directory = aFolder({ 'people.csv': `name,mobile\nAnn,${NUMBER}\n` });
    const { service } = await startEchoingService(manner);
    const chat = { kind: 'chat', text: '{{ accepted }} sent', when: 'always' };
    const input = { files: 'people.csv' };
    const handOff = { kind: 'conversations', input, user: { name: 'name' }, channel: '25', queue: '100' };
    const dialer = { kind: 'campaign', campaign: 101, set: 'PAUSED' };
    // All at once: each waits for its pauses.
    const jobs = [[smsStep()], [handOff], [dialer, smsStep()]].map(async (steps, index) => {
      const job = { ...aJob([...steps, chat], service), name: `sale-${index}` };

      const planned = await program.watch(() => plan(job, { ...program.options, directory }));

      expect(planned, program.told.join('\n')).toBeDefined();
      await program.watch(() => apply(planned?.directory ?? '', program.options));
    });
    await Promise.all(jobs);
    expect(program.leaks()).toEqual([]);
  });

  test('no call of a service throws a secret or a number', async () => {
    const program = aProgram();
    const { bases } = await startEchoingService(manner);
    const calls = listCalls().map(async (call) => {
      // Each has lanes of its own: none waits for the pause that another has to make.
      const service = createService({ account: 'acme', bases, credentials: keys, giveUpAfterSeconds: 0 });
      await program.watch(() => call(service));
      await service.close();
    });

    await Promise.all(calls);

    expect(program.leaks()).toEqual([]);
    if (manner === 'refuses') expect(program.told).toHaveLength(2 * listCalls().length);
  });
});

const keys = {
  apiKey: SECRETS.CONNECT_KEY,
  gateway: SECRETS.GATEWAY_KEY,
  chat: SECRETS.CHAT_KEY,
  campaign: { username: 'acme', dataToken: SECRETS.DATA_TOKEN, actionToken: SECRETS.ACTION_TOKEN },
};

function listCalls(): ((service: Service) => Promise<unknown>)[] {
  return [
    ({ sms }) => sms.sendBatch({ messages: [{ destination: NUMBER, text: 'Hi' }] }),
    ({ contacts }) => contacts.createContact({ addresses: { msisdn: NUMBER } }),
    ({ verification }) => verification.createSession({ destination: NUMBER }),
    ({ verification }) => verification.readSession({ sessionId: 's-1' }),
    ({ verification }) => verification.checkCode({ sessionId: 's-1', code: '123456' }),
    ({ gateway }) => gateway.createWebhook({ name: NUMBER, url: 'https://example.com/' }),
    ({ gateway }) => gateway.sendMessage({ conversationId: 'c-1', text: NUMBER }),
    ({ campaign }) => campaign.readCampaign({ campaignId: 101 }),
    ({ campaign }) => campaign.changeCampaign({ campaignId: 101, target: 'PAUSED' }),
    ({ chat }) => chat.readMessages(),
    ({ chat }) => chat.postMessage({ messageRaw: NUMBER }),
  ];
}

test('a call that cannot be formed, and options that make no service, throw no number', async () => {
  const program = aProgram();
  const service = createService({ account: 'acme', bases: BASES, credentials: keys });
  onTestFinished(() => service.close());

  await program.watch(() => service.verification.readSession({ sessionId: `${NUMBER}/..` }));
  await program.watch(() => createService({ account: 'acme', subAccountId: NUMBER, credentials: keys }));
  await program.watch(() => createService({ account: 'acme', [NUMBER]: 1, credentials: keys } as never));

  expect(program.told).toHaveLength(6);
  expect(program.leaks()).toEqual([]);
});

test("a program's log gets plain fields alone, without secrets and numbers", () => {
  const program = aProgram();
  const secrets = new SecretKeeper();
  secrets.keep(SECRETS.CHAT_KEY);
  const log = createHost(program.options).createLog?.(secrets);
  const fields = { row: 3, said: `${NUMBER} ${SECRETS.CHAT_KEY}`, error: new Error(NUMBER), list: [NUMBER] } as never;

  for (const level of ['info', 'warn', 'error'] as const) log?.[level](`${SECRETS.CHAT_KEY} of ${NUMBER}`, fields);

  expect(program.told).toHaveLength(8);
  expect(program.told[1]).toBe('["[secret] of +65******99",{"row":3,"said":"+65******99 [secret]"}]');
  expect(program.leaks()).toEqual([]);
});
