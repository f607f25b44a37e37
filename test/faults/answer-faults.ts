import { gzipSync } from 'node:zlib';
import { ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import { EXAMPLES } from '../kinds/examples.js';
import { anAnswer } from '../service/raw-server.js';
import type { Done } from '../world/service.js';
import { beforeAndAfter, type Fault, type Means, type Wire, writeAnswer } from './fault.js';
import { chunk } from './wire-faults.js';

const KINDS = Object.keys(ROW_KINDS) as RowKind[];
const ONE_BY_ONE = KINDS.filter((kind) => EXAMPLES[kind].batchKey === undefined);
/** In the forms of all areas at once. */
const OWN_ERROR = JSON.stringify({
  ...{ code: 1000, message: 'refused for the test', errorId: '00000000-0000-4000-8000-000000000000' },
  ...{ errors: [{ code: '1000', message: 'refused for the test' }], referenceId: 'r-1' },
});
/** Of a proxy or a firewall. */
const FOREIGN_BODIES = ['', '<html>Maintenance</html>', '{"message":"Forbidden","status":403}'];

/** Whole answers whose status says what is to be done, whatever their body. */
export const STATUS_FAULTS: readonly Fault[] = [
  ...[300, 301, 302, 303, 304, 307, 308].flatMap((status) => beforeAndAfter(redirect(status, 'elsewhere'))),
  ...[401, 403].map((status) => answering(status, 'stop', OWN_ERROR)),
  ...[429, 503].map((status) => ({
    what: `answers HTTP ${status} as the service does`,
    means: 'turned-away' as const,
    onRequest: ({ socket }: Wire) => socket.write(anAnswer(status, OWN_ERROR, { 'retry-after': '1' })),
  })),
  ...[401, 403].flatMap((status) => barring(status, 'elsewhere')),
  ...[400, 404, 406, 413, 422, 429, 503].flatMap((status) => barring(status, 'unknown')),
  ...[
    'no healthy upstream',
    'upstream connect error or disconnect/reset before headers. reset reason: overflow',
  ].flatMap((words) => beforeAndAfter({ ...answering(503, 'unknown', words), what: `answers HTTP 503: ${words}` })),
  ...[400, 404, 422].map((status) => answering(status, 'refused', OWN_ERROR)),
  ...[408, 460, 499, 500, 502, 504, 999].flatMap((status) => beforeAndAfter(answering(status, 'unknown', OWN_ERROR))),
  {
    what: 'answers HTTP 500, and gives its own answer to the next request on that connection',
    means: 'unknown',
    onRequest: ({ socket, process }) => giveLate(socket, anAnswer(500, ''), process()),
  },
];

function answering(status: number, means: Means, body: string): Fault & { onRequest: (wire: Wire) => void } {
  return { what: `answers HTTP ${status}`, means, onRequest: ({ socket }) => socket.write(anAnswer(status, body)) };
}

/** As something in between does, before the service has the request or after it has done what was asked. */
function barring(status: number, means: Means): Fault[] {
  return FOREIGN_BODIES.flatMap((body) =>
    ['', '1'].flatMap((seconds) =>
      beforeAndAfter({
        what: `answers HTTP ${status} as a proxy does, ${body === '' ? 'with nothing' : `with ${body}`}${seconds && ', and Retry-After'}`,
        means,
        onRequest: ({ socket }) =>
          socket.write(anAnswer(status, body, seconds === '' ? {} : { 'retry-after': seconds })),
      }),
    ),
  );
}

function redirect(status: number, means: Means): Fault & { onRequest: (wire: Wire) => void } {
  return {
    what: `answers HTTP ${status}, which points elsewhere`,
    means,
    onRequest: ({ socket, elsewhere }) => socket.write(anAnswer(status, '', { location: `${elsewhere}/here` })),
  };
}

/** Success, and a body that accounts for its rows in an odd way, for some of them, or for none. */
export const SUCCESS_FAULTS: readonly Fault[] = [
  ...[
    ['nothing', ''],
    ['a page', '<html><body>Please sign in</body></html>'],
    ['half of an object', '{"messages":['],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"QUEUED"'],
    ['a number', '17'],
    ['an empty object', '{}'],
    ['an error', '{"code":2000,"message":"oops"}'],
    ['lists in lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['all of a prototype', '{"__proto__":{"id":1,"messages":[]},"constructor":1}'],
  ].map(([what = '', body = '']) =>
    succeeding(`with ${what}`, 'unread', ({ socket }) => socket.write(anAnswer(200, body))),
  ),
  ...[204, 205].map((status) =>
    succeeding(`with HTTP ${status}`, 'unread', ({ socket }) =>
      socket.write(`HTTP/1.1 ${status} Nothing\r\ncontent-length: 0\r\n\r\n`),
    ),
  ),
  rewritten('in UTF-16', 'unread', (text) => Buffer.from(text, 'utf16le')),
  rewritten('behind a byte order mark', 'answered', (text) => `\uFEFF${text}`),
  succeeding('packed, though no one asked for it', 'unread', ({ socket }, { body }) => {
    const packed = gzipSync(JSON.stringify(body));
    socket.write(anAnswer(200, '', { 'content-encoding': 'gzip', 'content-length': String(packed.length) }));
    socket.write(packed);
  }),
  succeeding('whose end is that of the connection, which comes too early', 'unread', ({ socket }, { body }) =>
    socket.end(`HTTP/1.1 200 OK\r\n\r\n${JSON.stringify(body).slice(0, -5)}`),
  ),

  succeeding('after early hints', 'answered', ({ socket }, answer) =>
    socket.write(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${writeAnswer(answer)}`),
  ),
  succeeding('in chunks of a byte', 'answered', ({ socket }, { status, body }) => {
    const chunks = [...JSON.stringify(body)].map(chunk).join('');
    socket.write(`HTTP/1.1 ${status} OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  }),
  succeeding('whose end is that of the connection', 'answered', ({ socket }, { status, body }) =>
    socket.end(`HTTP/1.1 ${status} OK\r\n\r\n${JSON.stringify(body)}`),
  ),
  succeeding('in HTTP/1.0', 'answered', ({ socket }, { status, body }) =>
    socket.end(`HTTP/1.0 ${status} OK\r\n\r\n${JSON.stringify(body)}`),
  ),
  succeeding('twice', 'answered', ({ socket }, answer) => socket.write(writeAnswer(answer) + writeAnswer(answer))),
  succeeding('with a megabyte of other things', 'answered', ({ socket }, answer) =>
    socket.write(writeAnswer({ ...answer, body: { more: 'x'.repeat(1 << 20), ...(answer.body as Body) } })),
  ),

  ofAnother('', (socket, earlier) => socket.write(earlier)),
  ofAnother(', and its own behind it', (socket, earlier, answer) => socket.write(earlier + writeAnswer(answer))),
  ofAnother(', and gives its own to the next one on that connection', giveLate),
  ofBatch('of another batch', (body) => ({ ...body, clientBatchId: '0'.repeat(20) })),
  ofBatch('that names rows of another plan', (body) => ({
    ...body,
    messages: messagesOf(body).map((message) => ({ ...message, clientMessageId: `other-${message.clientMessageId}` })),
  })),
  ofBatch('that names rows that are not in it', (body) => ({
    ...body,
    messages: messagesOf(body).map(({ clientMessageId, ...message }) => ({
      ...message,
      clientMessageId: clientMessageId.replace(/\d+$/, (row) => String(Number(row) + 1000)),
    })),
  })),
  ofBatch('that leaves rows out', (body) => ({ ...body, messages: messagesOf(body).slice(2) }), {
    leavesOpen: (place) => place >= 2,
  }),
  ofBatch('with a list of no rows', (body) => ({ ...body, messages: [] })),
  ofBatch('with words that no one knows', (body) => ({ ...body, messages: withCode(body, 'DELIVERED') })),
  ofBatch(
    'with rows twice, and differently',
    (body) => ({ ...body, messages: [...messagesOf(body), ...withCode(body, 'REJECTED').slice(0, 1)] }),
    { leavesOpen: (place) => place === 3 },
  ),
  ofBatch('with rows twice', (body) => ({ ...body, messages: messagesOf(body).flatMap((each) => [each, each]) }), {
    means: 'answered',
  }),
  ofBatch('without rows', (body) => ({ ...body, messages: null, acceptedCount: 3, rejectedCount: 1 })),
  ofBatch('with a full count and no rows', (body) => ({ ...body, messages: null }), { means: 'answered' }),
  ofBatch('that does not say which batch it is of', ({ clientBatchId: _, ...body }) => body, { means: 'answered' }),
];

/** An answer too many, behind which each one comes a request too late. */
function giveLate(socket: Wire['socket'], stray: string, answer: Done): void {
  socket.write(stray);
  socket.prependOnceListener('data', () => socket.write(writeAnswer(answer)));
}

type Body = Readonly<Record<string, unknown>>;

function succeeding(
  how: string,
  means: Means,
  write: (wire: Wire, answer: Done) => void,
  more: Partial<Fault> = {},
): Fault {
  return { ...more, what: `answers with success ${how}`, means, onRequest: (wire) => write(wire, wire.process()) };
}

function ofAnother(how: string, write: (socket: Wire['socket'], earlier: string, answer: Done) => void): Fault {
  const give = ({ socket, earlier }: Wire, answer: Done) => write(socket, writeAnswer(earlier!), answer);
  return succeeding(`that belongs to another request${how}`, 'unread', give, { isNeverFirst: true });
}

function rewritten(how: string, means: Means, rewrite: (text: string) => string | Buffer): Fault {
  return succeeding(how, means, ({ socket }, { status, body }) => {
    const bytes = Buffer.from(rewrite(JSON.stringify(body)));
    socket.write(anAnswer(status, '', { 'content-length': String(bytes.length) }));
    socket.write(bytes);
  });
}

function ofBatch(how: string, rewrite: (body: Body) => Body, more: Partial<Fault> = {}): Fault {
  const write = ({ socket }: Wire, answer: Done) =>
    socket.write(writeAnswer({ ...answer, body: rewrite(answer.body as Body) }));
  return { ...succeeding(how, 'unread', write), kinds: ['sms'], ...more };
}

type Message = { readonly clientMessageId: string };

/** The last row first. */
function messagesOf(body: Body): Message[] {
  const rowOf = ({ clientMessageId }: Message) => Number(/\d+$/.exec(clientMessageId)?.[0]);
  return (body.messages as Message[]).toSorted((one, other) => rowOf(other) - rowOf(one));
}

function withCode(body: Body, code: string): Message[] {
  return messagesOf(body).map((message) => ({ ...message, status: { code, description: 'as the test wants it' } }));
}

/** Answers to a request for one row that do not say whose they are. */
export const SINGLE_FAULTS: readonly Fault[] = [
  ofKinds(ONE_BY_ONE, 'without an id', '{"status":"WAITING"}'),
  ofKinds(['contacts'], 'about another contact', '{"id":99,"addresses":{"msisdn":"6590000000"}}'),
  ofKinds(['contacts'], 'that names two contacts', '{"id":99}', { location: '/accounts/acme/contacts/98' }),
  ofKinds(
    ['verification.start', 'verification.check'],
    'about another session',
    '{"uid":"another","destination":"+6590000000","status":"VERIFIED","attempt":0}',
  ),
];

function ofKinds(kinds: readonly RowKind[], how: string, body: string, headers: Record<string, string> = {}): Fault {
  return succeeding(how, 'unread', ({ socket }) => socket.write(anAnswer(200, body, headers)), { kinds });
}
