import type { Socket } from 'node:net';

/**
 * undici closes a connection on an unrequested `100 Continue`. Proxies send it all the same, and a client must ignore
 * it (RFC 9110, 15.2). So interim answers are taken out:
 *
 *   a request is written → head of an answer ─1xx→ taken out, the next head
 *                                            ─final, 101→ passed on, and all behind it, until the next request
 */
export class ContinueFilter {
  #isAtHead = false;
  /** The beginning of a head, too short to classify, or an incomplete interim answer. */
  #held: Buffer = NOTHING;

  /** The head of an answer comes next. */
  expectAnswer(): void {
    this.#isAtHead = true;
  }

  /** What is left of the bytes that came; maybe none. */
  filter(bytes: Buffer): Buffer {
    if (!this.#isAtHead) return bytes;
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = NOTHING;
    while (mayBeInterim(rest)) {
      const end = rest.indexOf(HEAD_END);
      if (end === -1 && rest.length < MAX_HELD_BYTES) {
        this.#held = rest;
        return NOTHING;
      }
      if (end === -1) break;
      rest = rest.subarray(end + HEAD_END.length);
    }
    this.#isAtHead = false;
    return rest;
  }
}

const NOTHING = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const INTERIM = 'HTTP/1.1 1';
/** Longer heads are not held back: undici bounds what it is given. */
const MAX_HELD_BYTES = 32 * 1024;

/** Whether an interim answer may begin with these bytes, which may be none. 101 is final: another protocol begins behind it. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, INTERIM.length + 2);
  return INTERIM.startsWith(start.slice(0, INTERIM.length)) && !start.endsWith(' 101');
}

/** Code of the error of a connection on which bytes come before a request was written whole: they belong to no request. */
export const EARLY_ANSWER = 'EARLY_ANSWER';

export function earlyAnswer(): Error {
  return Object.assign(new Error('An answer came before its request'), { code: EARLY_ANSWER });
}

/**
 * Passes on what a connection answers, without interim answers, and ends the connection at bytes that come before
 * the request was written whole. Bytes that come while there is no request end it in undici. undici reads a connection
 * by `read`, and writes each request at once, before it reads; pipelining is 1.
 */
export function filterAnswers(socket: Socket): void {
  const filter = new ContinueFilter();
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let isSecondLook = false;
  const lookAgain = () => {
    isSecondLook = true;
    if (!socket.destroyed) socket.emit('readable');
  };
  socket.write = (...args: unknown[]) => {
    isSecondLook = false;
    filter.expectAnswer();
    return write(...args);
  };
  socket.read = (size?: number) => {
    // TLS reports a turn late that a write is done; the answer may be there by then.
    if (!isSecondLook && socket.writableLength > 0 && socket.readableLength > 0) {
      setImmediate(lookAgain);
      return null;
    }
    for (;;) {
      const chunk: Buffer | null = read(size);
      if (chunk === null) return null;
      const passed = filter.filter(chunk);
      if (passed.length === 0) continue;
      if (socket.writableLength === 0) return passed;
      socket.destroy(earlyAnswer());
      return null;
    }
  };
}
