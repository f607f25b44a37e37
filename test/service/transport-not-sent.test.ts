import tls from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { StopFault } from '../../src/domain/errors.js';
import { type Call, createTransport, readFailure } from '../../src/service/transport.js';
import { aCall, aTransport, SECRET } from './a-call.js';
import { anAnswer, aRawServer, type RawBehaviour } from './raw-server.js';
import { SELF_SIGNED } from './self-signed.js';

const CLOSED = /^the connection was closed while it was made \(\w+\)$/;

describe('a failure that was certainly not sent', () => {
  const notSent = (reason: RegExp) => ({ mayHaveBeenProcessed: false, reason: expect.stringMatching(reason) });

  test.each<[string, RegExp, Partial<Call>]>([
    ['a refused connection', /^ECONNREFUSED$/, {}],
    [
      'a host name that has no address',
      /^its host name (is unknown \(ENOTFOUND|cannot be looked up \(EAI_AGAIN)\)$/,
      { base: 'http://nonexistent.invalid' },
    ],
    // Whose reason does not repeat it.
    ['a header that may not be sent', /^[A-Z_]+$/, { headers: { authorization: `Bearer ${SECRET}\n` } }],
    ['an address that is none', /^[A-Z_]+$/, { base: `http://${SECRET}:x` }],
  ])('is %s', async (_, reason, call) => {
    const answer = await aTransport({ connectSeconds: 10, answerSeconds: 1 }).send(aCall(call), undefined);
    expect(answer).toMatchObject(notSent(reason));
  });

  test('is a certificate that no one has signed, and no byte of the request reaches it', async () => {
    const server = await aRawServer({ isTls: true, onRequest: (socket) => socket.write(anAnswer(200)) });
    const transport = aTransport({ connectSeconds: 5, answerSeconds: 1 });
    const answer = await transport.send(aCall({ base: server.base }), undefined);
    expect(answer).toMatchObject({ ...notSent(/^its certificate is not trusted \(/), fault: 'certificate-authority' });
    expect([server.requests.length, server.bytes]).toEqual([0, 0]);
  });

  test.each([
    ['reset', CLOSED, { onConnection: (socket) => socket.resetAndDestroy() }],
    ['closed', CLOSED, { onConnection: (socket) => socket.end() }],
    [
      'answered in plain HTTP',
      /^no secure connection can be made \(\w+\)$/,
      { onConnection: (socket) => socket.end(anAnswer(400)) },
    ],
    ['left to stall', /^no connection within 1 s \(UND_ERR_CONNECT_TIMEOUT\)$/, {}],
  ] as const satisfies readonly (readonly [string, RegExp, RawBehaviour])[])(
    'is a TLS handshake that is %s',
    async (_, reason, behaviour) => {
      const server = await aRawServer(behaviour);
      const base = server.base.replace('http:', 'https:');
      const answer = await aTransport({ connectSeconds: 1, answerSeconds: 10 }).send(aCall({ base }), undefined);
      expect(answer).toMatchObject(notSent(reason));
    },
  );

  test.each<[code: string, syscall: string, maybe: boolean, fault?: StopFault]>([
    ['ECONNRESET', 'connect', false],
    ['ECONNRESET', 'read', true],
    ['ETIMEDOUT', 'connect', false],
    ['ETIMEDOUT', 'read', true],
    ['EPIPE', 'write', true],
    ['EHOSTUNREACH', 'connect', false, 'unreachable'],
    ['EHOSTUNREACH', 'read', true, 'unreachable'],
    ['ENETUNREACH', 'write', true, 'unreachable'],
    ['ECONNREFUSED', 'read', true, 'unreachable'],
    ['UND_ERR_CONNECT_TIMEOUT', '', false, 'unreachable'],
    ['UND_ERR_SOCKET', '', true],
    ['CERT_ALTNAME_INVALID', '', false, 'secure-connection'],
    ['EPROTO', '', true, 'secure-connection'],
    ['CERT_HAS_EXPIRED', '', false, 'certificate-time'],
    ['CERT_NOT_YET_VALID', '', false, 'certificate-time'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', '', false, 'certificate-authority'],
    ['SELF_SIGNED_CERT_IN_CHAIN', '', false, 'certificate-authority'],
    ['SOMETHING_NEW', '', true],
  ])('is known by its code: after %s of %j it may have been processed: %s', (code, syscall, maybe, fault) => {
    const error = Object.assign(new Error(`with ${SECRET}`), { code, syscall });
    expect(readFailure(error)).toEqual({ kind: 'failure', mayHaveBeenProcessed: maybe, reason: code, fault });
  });

  test('is one whose every address failed so, and no other', () => {
    const failed = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });
    const all = new AggregateError([failed('ECONNREFUSED', 'connect'), failed('ETIMEDOUT', 'connect')]);
    const some = new AggregateError([failed('ECONNREFUSED', 'connect'), failed('ECONNRESET', 'read')]);
    expect([readFailure(all), readFailure(some)].map((failure) => failure.mayHaveBeenProcessed)).toEqual([false, true]);
  });

  test.each([undefined, null, 'text', 5, {}, new Error('?')])('is not %s, which says nothing', (error) => {
    expect(readFailure(error).mayHaveBeenProcessed).toBe(true);
  });
});

/** The machine trusts who signed the certificate of the tests, which is for localhost; and the service is called by this name. */
function trustSelfSigned({ servername }: { servername: string }): void {
  const { connect } = tls;
  const trusting = (options: tls.ConnectionOptions) => connect({ ...options, ca: SELF_SIGNED.cert, servername });
  const spy = vi.spyOn(tls, 'connect').mockImplementation(trusting as typeof connect);
  onTestFinished(() => spy.mockRestore());
}

describe.each([true, false])('behind requests that found no connection (one of their own: %s)', (hasOwnConnection) => {
  test.each<[so: string, reason: RegExp, behaviour: RawBehaviour | undefined]>([
    ['no one listens', /^ECONNREFUSED$/, undefined],
    ['it is closed as it is made', CLOSED, { onConnection: (socket) => socket.end() }],
    ['its certificate is signed by no one', /^its certificate is not trusted/, { isTls: true }],
    ['its certificate is for another host', /^its certificate is for another host/, { isTls: true }],
  ])('a transport can be closed: %s', async (so, reason, behaviour) => {
    if (so.endsWith('for another host')) trustSelfSigned({ servername: 'elsewhere.example' });
    const server = behaviour && (await aRawServer(behaviour));
    const base = server?.base.replace('http:', 'https:') ?? 'http://127.0.0.1:1';
    const transport = createTransport({ connectSeconds: 5, answerSeconds: 5 });
    const send = () => transport.send(aCall({ base, hasOwnConnection }), undefined);
    for (const answer of await Promise.all([send(), send()])) {
      expect(answer).toMatchObject({ mayHaveBeenProcessed: false, reason: expect.stringMatching(reason) });
    }
    expect(await send()).toMatchObject({ kind: 'failure', mayHaveBeenProcessed: false });
    await transport.close();
  });
});
