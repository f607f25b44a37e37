import { describe, expect, test } from 'vitest';
import { parseJob } from '../../src/job/load.js';
import { aJobFile, aService, messagesOf } from './a-job-file.js';

const withPaths = (gatewayPaths: unknown) => aJobFile({ service: aService({ gatewayPaths }) });

describe('the paths of the gateway', () => {
  test('are those of the documentation, save what a job gives', () => {
    const given = { channels: '/v2/channels', messages: '/v2/c/{conversationId}/say' };
    expect(parseJob(withPaths(given), 'a.yaml').service.gatewayPaths).toEqual({
      webhooks: '/chat-gateway/v1/webhooks',
      conversation: '/chat-gateway/v1/conversations/{conversationId}',
      ...given,
    });
  });

  test('can all be given, on the sandbox too', () => {
    const given = {
      webhooks: '/w',
      channels: '/c',
      conversation: '/x-{conversationId}',
      messages: '/{conversationId}/m',
    };
    const service = { sandbox: true, gatewayPaths: given };
    expect(parseJob(aJobFile({ service }), 'a.yaml').service.gatewayPaths).toEqual(given);
  });

  const ODD =
    'expected a path such as /chat-gateway/v1/channels, without blanks, braces, ? and #, empty parts and parts of dots';
  const ODD_BESIDE_ID = ODD.replace('blanks, braces', 'blanks, other braces');
  const ONCE = 'expected a path with {conversationId} in it once';
  test.each<[key: string, path: string, expected: string]>([
    ['webhooks', 'v2/webhooks', 'expected a path that begins with /'],
    ['webhooks', 'https://a.example/webhooks', 'expected a path that begins with /'],
    ['channels', '//a.example', ODD],
    ['channels', '/', ODD],
    ['channels', '/a/', ODD],
    ['channels', '/a//b', ODD],
    ['channels', '/a/../b', ODD],
    ['channels', '/a/%2E%2e/b', ODD],
    ['channels', '/a b', ODD],
    ['channels', '/a?b=c', ODD],
    ['channels', '/a#b', ODD],
    ['channels', '/a\\b', ODD],
    ['channels', '/é', ODD],
    ['channels', '/{conversationId}', ODD],
    ['conversation', 'c/{conversationId}', 'expected a path that begins with /'],
    ['conversation', '/conversations', ONCE],
    ['conversation', '/conversations/{id}', ONCE],
    ['messages', '/{conversationId}/{conversationId}', ONCE],
    ['messages', '/{conversationId}/{part}', ODD_BESIDE_ID],
    ['messages', '/c/{conversationId}?a=b', ODD_BESIDE_ID],
  ])('%s: %s is refused', (key, path, expected) => {
    expect(messagesOf(withPaths({ [key]: path }))).toEqual([
      `service.gatewayPaths.${key} is ${JSON.stringify(path)}, ${expected}`,
    ]);
  });

  test('have no other names', () => {
    expect(messagesOf(withPaths({ conversations: '/c/{conversationId}' }))).toEqual([
      '"conversations" is not a key of service.gatewayPaths, expected conversation',
    ]);
  });
});
