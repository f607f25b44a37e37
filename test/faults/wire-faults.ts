import type { Socket } from 'node:net';
import { anAnswer } from '../service/raw-server.js';
import { beforeAndAfter, type Fault, type Wire, writeAnswer } from './fault.js';

/** Faults of a connection, and of an answer that is no whole answer: nothing that was read tells what became of the request. */
export const WIRE_FAULTS: readonly Fault[] = [
  { what: 'refuses the connection', means: 'not-sent', isDown: true },
  { what: 'resets the connection at once', means: 'race', onConnection: (socket) => socket.resetAndDestroy() },
  { what: 'closes the connection at once', means: 'race', onConnection: (socket) => socket.end() },
  {
    what: 'speaks before it is asked, and closes',
    means: 'stray',
    onConnection: (socket) => socket.end(anAnswer(400, '{"code":1000,"message":"no"}', { connection: 'close' })),
  },
  {
    what: 'resets the connection at the first byte',
    means: 'unknown',
    onConnection: (socket) => socket.once('data', () => socket.resetAndDestroy()),
  },
  whileIdle('closes an idle connection', 'race', (socket) => socket.end()),
  whileIdle('resets an idle connection', 'race', (socket) => socket.resetAndDestroy()),
  whileIdle('says on an idle connection that its time is over, and closes it', 'stray', (socket) =>
    socket.end(anAnswer(408, '', { connection: 'close' })),
  ),
  whileIdle('answers the request before once more', 'stray', (socket) => socket.write(anAnswer(200, '{}'))),

  ...ending('resets the connection', ({ socket }) => socket.resetAndDestroy()),
  ...ending('closes the connection', ({ socket }) => socket.end()),
  ...ending('never answers', () => {}, { isStall: true }),
  ...saying('stalls in the status line', { isStall: true }, 'HTTP/1.1 20'),
  ...saying('stalls in the headers', { isStall: true }, 'HTTP/1.1 200 OK\r\ncontent-type: te'),
  ...saying('gives early hints, and nothing more', { isStall: true }, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  ...closing('closes in the status line', 'HTTP/1.1 20'),
  ...closing('closes in the headers', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'),
  ...closing('says that it will process it, and closes', 'HTTP/1.1 102 Processing\r\n\r\n'),
  ...saying('answers with garbage', {}, 'lorem ipsum\r\n\r\n'),
  ...saying('answers with zeros', {}, '\0'.repeat(1000)),
  ...saying('answers in TLS', {}, '\u0015\u0003\u0001\u0000\u0002\u0002\u0046'),
  ...saying('answers with HTTP/2', {}, '\0\0\u0012\u0004\0\0\0\0\0\0\u0003\0\0\0d'),
  ...saying('answers with a status that is no number', {}, 'HTTP/1.1 OK 200\r\ncontent-length: 0\r\n\r\n'),
  ...saying('asks to continue a request that was whole', { isStall: true }, 'HTTP/1.1 100 Continue\r\n\r\n'),
  ...saying('switches protocols', {}, 'HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
  ...saying('answers with a huge header', {}, anAnswer(200, '{}', { 'x-huge': 'x'.repeat(40_000) })),
  ...ending('answers with headers without end', ({ socket }) =>
    pour(socket, 'HTTP/1.1 200 OK\r\n', 'x-more: of this\r\n'.repeat(100)),
  ),
  {
    what: 'asks to go on before it answers',
    means: 'answered',
    onRequest: ({ socket, process }) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${writeAnswer(process())}`),
  },
  {
    what: 'answers without a status line',
    means: 'unknown',
    onRequest: ({ socket, process }) => socket.end(JSON.stringify(process().body)),
  },
];

/** Of the body: the request was processed, and the answer breaks off, never ends, or cannot be what it says it is. */
export const BROKEN_BODIES: readonly Fault[] = [
  broken('stalls in the body', ({ head, body }) => head + body.slice(0, -5), { isStall: true }),
  broken('stalls in a body in chunks', ({ chunkedHead, body }) => chunkedHead + chunk(body), { isStall: true }),
  broken('closes in the body', ({ head, body }) => head + body.slice(0, -5), { ends: 'closed' }),
  broken('closes before the body', ({ head }) => head, { ends: 'closed' }),
  broken('resets in the body', ({ head, body }) => head + body.slice(0, -5), { ends: 'reset' }),
  broken('closes between chunks', ({ chunkedHead, body }) => chunkedHead + chunk(body.slice(0, 9)), { ends: 'closed' }),
  broken('closes before the last chunk', ({ chunkedHead, body }) => chunkedHead + chunk(body), { ends: 'closed' }),
  broken('gives a chunk without a size', ({ chunkedHead, body }) => `${chunkedHead}zz\r\n${body}\r\n0\r\n\r\n`),
  broken('states a length that is no number', ({ bare, body }) => `${bare}content-length: x1\r\n\r\n${body}`),
  broken(
    'states two lengths',
    ({ bare, body }) => `${bare}content-length: ${body.length}\r\ncontent-length: 2\r\n\r\n${body}`,
  ),
  broken(
    'states a length and sends chunks',
    ({ bare, body }) => `${bare}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n${chunk(body)}0\r\n\r\n`,
  ),
  broken('states more than may be read', ({ bare }) => `${bare}content-length: ${1 << 30}\r\n\r\n{`, { isStall: true }),
  afterwards('sends a body without end', (socket) => pour(socket, 'HTTP/1.1 200 OK\r\n\r\n', ' '.repeat(1 << 20))),
  afterwards('sends chunks without end', (socket) =>
    pour(socket, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', chunk(' '.repeat(1 << 20))),
  ),
  {
    isStall: true,
    ...afterwards('drips its answer byte by byte', (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const drip = setInterval(() => socket.write(' '), 20);
      socket.on('close', () => clearInterval(drip));
    }),
  },
];

function whileIdle(what: string, means: Fault['means'], onIdle: (socket: Socket) => unknown): Fault {
  return { what, means, isNeverFirst: true, onIdle };
}

function ending(what: string, onRequest: (wire: Wire) => unknown, more: Partial<Fault> = {}): Fault[] {
  return beforeAndAfter({ ...more, what, means: 'unknown', onRequest });
}

function saying(what: string, more: Partial<Fault>, text: string): Fault[] {
  return ending(what, ({ socket }) => socket.write(text, 'latin1'), more);
}

function closing(what: string, text: string): Fault[] {
  return ending(what, ({ socket }) => socket.end(text));
}

/** Once the service has done what was asked. */
function afterwards(what: string, act: (socket: Socket) => void): Fault {
  const onRequest = ({ socket, process }: Wire) => {
    process();
    act(socket);
  };
  return { what, means: 'unknown', onRequest };
}

/** An honest answer in pieces; `bare` and `chunkedHead` are heads without and with a statement of how the body is sent. */
type Pieces = Readonly<{ head: string; bare: string; chunkedHead: string; body: string }>;

function broken(
  what: string,
  write: (pieces: Pieces) => string,
  { ends, ...more }: Partial<Fault> & { ends?: 'closed' | 'reset' } = {},
): Fault {
  return {
    ...more,
    what,
    means: 'unknown',
    onRequest: ({ socket, process }) => {
      const whole = writeAnswer(process());
      const end = whole.indexOf('\r\n\r\n') + 4;
      const bare = whole.slice(0, end - 2).replace(/^content-length: .*\r\n/m, '');
      const chunkedHead = `${bare}transfer-encoding: chunked\r\n\r\n`;
      const text = write({ head: whole.slice(0, end), bare, chunkedHead, body: whole.slice(end) });
      if (ends === 'closed') socket.end(text);
      else socket.write(text, () => ends === 'reset' && socket.resetAndDestroy());
    },
  };
}

export function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function pour(socket: Socket, head: string, more: string): void {
  socket.write(head);
  const bytes = Buffer.from(more);
  const go = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', go);
  go();
}
