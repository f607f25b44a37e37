import { expect, test } from 'vitest';
import { createLibraryCall, readOptions } from '../../src/library/create-service.js';
import { createClients } from '../../src/service/clients.js';
import { FakeClock } from '../run/fake-clock.js';
import { aResponse } from '../service/an-answer.js';

/** Clients whose lane notes what each call costs on it. */
function someClients() {
  const costs: object[] = [];
  const { settings, secrets } = readOptions({ account: 'acme', credentials: { apiKey: 'k' } });
  const call = createLibraryCall({
    settings,
    secrets,
    transport: { send: async () => aResponse({ batchId: 'b', id: 7 }), close: async () => {} },
    laneOf: (area) => ({
      run: (cost, task) => {
        costs.push({ area, ...cost });
        return task(async () => {});
      },
      pauseFor: () => {},
      slowDown: () => {},
      noteSuccess: () => {},
    }),
    clock: new FakeClock(),
    signal: undefined,
  });
  return { costs, clients: createClients(call) };
}

test('a batch costs its lane every message, and every part of them, with the text of the template where it has none', async () => {
  const { costs, clients } = someClients();
  await clients.sms.sendBatch({
    messages: [
      { destination: '+6591234567' },
      { destination: '+6591234568', text: 'a'.repeat(161) },
      { destination: '+6591234569', text: 'a'.repeat(135), encoding: 'UCS2' },
    ],
    template: { text: 'Hi', source: 'ACME' },
  });
  expect(costs).toEqual([{ area: 'sms', messages: 3, segments: 1 + 2 + 3 }]);
});

test.each<[string, (clients: ReturnType<typeof createClients>) => unknown, string]>([
  ['a batch without messages', ({ sms }) => sms.sendBatch({} as never), 'it has no messages, expected a list'],
  [
    'a message that is none',
    ({ sms }) => sms.sendBatch({ messages: [null] } as never),
    'messages[0] is not an object, expected one',
  ],
  [
    'a text that is none',
    ({ sms }) => sms.sendBatch({ messages: [{ destination: '+6591234567', text: 5 }] } as never),
    'messages[0].text is not text, expected a string',
  ],
  [
    'a template that is none',
    ({ sms }) => sms.sendBatch({ messages: [], template: null } as never),
    'its template is not an object, expected one',
  ],
  [
    'a template with a text that is none',
    ({ sms }) => sms.sendBatch({ messages: [{ destination: '+6591234567' }], template: { text: 5 } } as never),
    'template.text is not text, expected a string',
  ],
  [
    'a session without a number',
    ({ verification }) => verification.createSession({} as never),
    'its destination is not text, expected a phone number',
  ],
])('%s, from a program without types, is refused before anything is sent', async (_, give, so) => {
  const { costs, clients } = someClients();

  await expect(give(clients)).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining(so) });

  expect(costs).toEqual([]);
});

test('any other call costs its lane one request', async () => {
  const { costs, clients } = someClients();
  await clients.contacts.createContact({ addresses: { msisdn: '+6591234567' } });
  expect(costs).toEqual([{ area: 'contacts', messages: 0, segments: 0 }]);
});
