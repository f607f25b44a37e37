import { describe, expect, test } from 'vitest';
import type { Step } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';
import {
  aCampaignStep,
  aChatStep,
  aCheckStep,
  aContactsStep,
  aConversationsStep,
  aJobFile,
  anSmsStep,
  aStartStep,
  fillOne,
} from './a-job-file.js';

const limited = (requestsPerSecond: number, concurrency: number) => ({
  requestsPerSecond,
  messagesPerSecond: undefined,
  segmentsPerSecond: undefined,
  concurrency,
});

const inputOf = (file: string, more: object = {}) => expect.objectContaining({ files: [`/jobs/${file}`], ...more });

test.each<[Step['kind'], Record<string, unknown>, object]>([
  [
    'verification.start',
    aStartStep({ input: { files: 'a.csv', country: 'sg' } }),
    {
      input: inputOf('a.csv', { country: 'SG' }),
      destination: 'mobile',
      resendingInterval: 10,
      whenTooEarly: 'wait',
      duplicates: 'skip',
      limits: limited(10, 8),
    },
  ],
  // Which only reads where no code is named.
  ['verification.check', aCheckStep(), { input: inputOf('codes.csv'), session: 'sessionId', limits: limited(20, 8) }],
  [
    'conversations',
    aConversationsStep(),
    { input: inputOf('handoff.ndjson'), channel: { id: '25' }, queue: '100', user: 'user', limits: limited(10, 8) },
  ],
  ['campaign', aCampaignStep(), { campaign: 101, set: 'PAUSED', always: false, limits: limited(1, 1) }],
  ['campaign', aCampaignStep({ expect: 'RUNNING' }), expect.objectContaining({ expect: ['RUNNING'] })],
  ['chat', aChatStep(), { text: '{{ job }}: {{ accepted }} of {{ read }}', when: 'always', limits: limited(1, 1) }],
])('every default of %s is filled', (kind, written, filled) => {
  const { kind: _kind, ...rest } = fillOne(kind, written);
  expect(rest).toEqual(filled);
});

describe('every key that is written is kept', () => {
  const NEW_CHANNEL = { name: 'bot', queue: '1', webhook: { name: 'events', url: 'https://hooks.example/v1' } };
  const CODES = { codeLength: 6, codeValidity: 600, resendingInterval: 60, resetSession: false };

  test.each([
    aStartStep({ brand: 'ACME', template: '{brand}: {code}', source: 'ACME', ...CODES, whenTooEarly: 'reject' }),
    aStartStep({ duplicates: 'keep', limits: { requestsPerSecond: 3, concurrency: 2 } }),
    aCheckStep({ code: 'Code' }),
    aConversationsStep({
      channel: NEW_CHANNEL,
      queueColumn: 'Queue',
      user: 'customer',
      history: 'chat',
      languages: ['id', 'zh-HK'],
    }),
    aConversationsStep({ channel: { ...NEW_CHANNEL, description: 'The bot' }, queue: undefined }),
    aConversationsStep({
      channel: NEW_CHANNEL,
      user: { language: 'l', name: 'n', email: 'e', phone: 'p', additionalProperties: { a: 'b' } },
    }),
    aCampaignStep({ set: undefined, expect: ['RUNNING', 'PAUSED'], always: true }),
    aChatStep({ text: 'Done.', room: 'Operations', when: 'failure', limits: { requestsPerSecond: 5 } }),
  ])('of %j', ({ input, ...written }) => {
    const kind = written.kind as 'chat';
    expect(fillOne(kind, JSON.parse(JSON.stringify({ input, ...written })))).toMatchObject(
      JSON.parse(JSON.stringify(written)),
    );
  });
});

test.each([
  [
    'do not concern a step with limits of its own',
    { requestsPerSecond: 1800 },
    [anSmsStep(), aContactsStep({ limits: { requestsPerSecond: 5 } })],
    [{ requestsPerSecond: 1800 }, { requestsPerSecond: 5 }],
  ],
  [
    'of messages concern SMS alone',
    { messagesPerSecond: 20_000, segmentsPerSecond: 5 },
    [anSmsStep(), aContactsStep()],
    [{ messagesPerSecond: 20_000, segmentsPerSecond: 5 }, limited(20, 8)],
  ],
  [
    'are not for steps without rows, which do not lower what they may be',
    { requestsPerSecond: 1800, concurrency: 100 },
    [aCampaignStep(), anSmsStep(), aChatStep()],
    [limited(1, 1), { requestsPerSecond: 1800, concurrency: 100 }, limited(1, 1)],
  ],
])('limits at the top %s', (_, limits, steps, found) => {
  const job = parseJob(aJobFile({ steps, limits, service: { sandbox: true } }), 'sale.yaml');
  expect(job.steps.map((step) => step.limits)).toMatchObject(found);
});
