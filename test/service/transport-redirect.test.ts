import { expect, test } from 'vitest';
import { aCall, aTransport } from './a-call.js';
import { anAnswer, aRawServer } from './raw-server.js';

test.each([301, 302, 303, 307, 308])(
  'an answer %i is given as it is: nothing goes to where it leads',
  async (status) => {
    const elsewhere = await aRawServer({ onRequest: (socket) => socket.write(anAnswer(200)) });
    const location = `${elsewhere.base}/batch`;
    const server = await aRawServer({ onRequest: (socket) => socket.write(anAnswer(status, '', { location })) });

    const answer = await aTransport().send(aCall({ base: server.base }), undefined);

    expect(answer).toMatchObject({ kind: 'response', status, headers: { location } });
    expect([server.requests.length, elsewhere.connections]).toEqual([1, 0]);
  },
);
