import { describe, expect, test } from 'vitest';
import { aConversationsStep, aJobFile, fillOne, hintsOf, messagesOf } from '../a-job-file.js';

const filled = (changes: Record<string, unknown>) => fillOne('conversations', aConversationsStep(changes));
const refused = (changes: Record<string, unknown>) =>
  aJobFile({ service: { sandbox: true }, steps: [aConversationsStep(changes)] });

const NEW_CHANNEL = { name: 'bot', queue: '100', webhook: { name: 'events', url: 'https://hooks.example/v1' } };

describe('a conversations step', () => {
  test('has every default filled', () => {
    expect(filled({})).toEqual({
      kind: 'conversations',
      input: expect.objectContaining({ files: ['/jobs/handoff.ndjson'] }),
      channel: { id: '25' },
      queue: '100',
      queueColumn: undefined,
      user: 'user',
      history: undefined,
      limits: { requestsPerSecond: 10, messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 8 },
    });
  });

  test('keeps every key that is written', () => {
    const written = {
      queueColumn: 'Queue',
      user: 'customer',
      history: 'chat',
      languages: ['id', 'zh-HK'],
      limits: { concurrency: 3 },
    };
    expect(filled(written)).toMatchObject(written);
  });

  test('names a channel by its settings, with a queue of its own', () => {
    const { channel, queue } = filled({ channel: NEW_CHANNEL, queue: undefined });
    expect({ channel, queue }).toEqual({ channel: NEW_CHANNEL, queue: undefined });
    const webhook = { ...NEW_CHANNEL.webhook, version: 'Chat Gateway v1.0' };
    expect(filled({ channel: { ...NEW_CHANNEL, webhook } })).toMatchObject({ channel: { webhook } });
    const described = { ...NEW_CHANNEL, description: 'The bot of the shop' };
    expect(filled({ channel: described }).channel).toEqual(described);
  });

  test('takes the user from columns', () => {
    const columns = { language: 'lang', name: 'Name', email: 'Mail', phone: 'Mobile' };
    expect(filled({ user: columns }).user).toEqual({ ...columns, additionalProperties: {} });
    expect(filled({ user: { additionalProperties: { tier: 'Tier' } } }).user).toEqual({
      language: undefined,
      name: undefined,
      email: undefined,
      phone: undefined,
      additionalProperties: { tier: 'Tier' },
    });
  });

  test.each<[changes: Record<string, unknown>, message: string]>([
    [
      { channel: undefined },
      'steps[0].channel is missing, expected text, the id of a channel, or a map with the settings of a new one',
    ],
    [{ channel: '' }, 'steps[0].channel is empty, expected some text'],
    [
      { channel: 25 },
      'steps[0].channel is 25, expected text, the id of a channel, or a map with the settings of a new one',
    ],
    [{ queue: 100 }, 'steps[0].queue is 100 (a number), expected text'],
    [{ channel: { ...NEW_CHANNEL, name: undefined } }, 'steps[0].channel.name is missing, expected text'],
    [
      { channel: { ...NEW_CHANNEL, name: 'n'.repeat(256) } },
      `steps[0].channel.name is "${'n'.repeat(60)}…", expected at most 255 characters`,
    ],
    [{ channel: { ...NEW_CHANNEL, queue: undefined } }, 'steps[0].channel.queue is missing, expected text'],
    [
      { channel: { ...NEW_CHANNEL, webhook: undefined } },
      'steps[0].channel.webhook is missing, expected a map of keys and values',
    ],
    [
      { channel: { ...NEW_CHANNEL, webhook: { name: 'events' } } },
      'steps[0].channel.webhook.url is missing, expected text',
    ],
    [
      { channel: { ...NEW_CHANNEL, webhook: { name: 'w'.repeat(257), url: 'https://a.example' } } },
      `steps[0].channel.webhook.name is "${'w'.repeat(60)}…", expected at most 256 characters`,
    ],
    [
      { channel: { ...NEW_CHANNEL, webhook: { name: 'events', url: 'hooks.example' } } },
      'steps[0].channel.webhook.url is "hooks.example", expected an address that begins with https:// (http:// only for this machine, such as http://127.0.0.1:8080)',
    ],
    [{ channel: { ...NEW_CHANNEL, queues: '1' } }, '"queues" is not a key of steps[0].channel, expected queue'],
    [{ user: 5 }, 'steps[0].user is 5, expected text, the name of a column, or a map of field: column'],
    [
      { user: {} },
      'steps[0].user names no column, expected at least one of language, name, email, phone, additionalProperties',
    ],
    [
      { user: { additionalProperties: {} } },
      'steps[0].user names no column, expected at least one of language, name, email, phone, additionalProperties',
    ],
    [{ user: { mail: 'Mail' } }, '"mail" is not a key of steps[0].user, expected email'],
    [
      { user: { additionalProperties: Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`k${n}`, 'c'])) } },
      'steps[0].user.additionalProperties is a map, expected 30 properties at most',
    ],
    [
      { user: { additionalProperties: { '': 'a' } } },
      'steps[0].user.additionalProperties has an empty key, expected a name',
    ],
    [{ languages: 'id' }, 'steps[0].languages is "id", expected a list'],
    [{ languages: [] }, 'steps[0].languages is an empty list, expected at least 1 entry'],
    [
      { languages: ['Indonesian'] },
      'steps[0].languages[0] is "Indonesian", expected the code of a language, such as id or pt-BR',
    ],
    [{ history: 5 }, 'steps[0].history is 5 (a number), expected text'],
    [{ limits: { requestsPerSecond: 101 } }, 'steps[0].limits.requestsPerSecond is 101, expected at most 100'],
  ])('%#: %o is refused', (changes, message) => {
    expect(messagesOf(refused(changes))).toEqual([message]);
  });

  test('takes 30 additional properties and names as long as they may be', () => {
    const additionalProperties = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`k${n}`, 'c']));
    const channel = {
      ...NEW_CHANNEL,
      name: 'n'.repeat(255),
      webhook: { ...NEW_CHANNEL.webhook, name: 'w'.repeat(256) },
    };
    expect(filled({ user: { additionalProperties }, channel })).toMatchObject({
      user: { additionalProperties },
      channel,
    });
  });

  test('wants ids that are numbers in quotes', () => {
    expect(hintsOf(refused({ channel: 25, queue: 100 }))).toEqual([
      'Put it in quotes: "25".',
      'Put it in quotes: "100".',
    ]);
  });

  test('may leave the queue to the channel, also to one that is named by its id', () => {
    const { channel, queue, queueColumn } = filled({ queue: undefined });
    expect([channel, queue, queueColumn]).toEqual([{ id: '25' }, undefined, undefined]);
  });

  test('may take the queue row by row', () => {
    const { queue, queueColumn } = filled({ queue: undefined, queueColumn: 'Queue' });
    expect([queue, queueColumn]).toEqual([undefined, 'Queue']);
  });
});
