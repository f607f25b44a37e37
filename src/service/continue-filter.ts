import type { Socket } from 'node:net';

/**
 * undici closes a connection on an unrequested `100 Continue`. Proxies send it all the same, and a client must ignore
 * it (RFC 9110, 15.2). So it is filtered out:
 *
 *   a request is written → head of an answer ─100→ taken out, the next head
 *                                            ─any other 1xx→ passed on, the next head
 *                                            ─final, 101→ passed on, and all behind it, until the next request
 */
export class ContinueFilter {
  #isAtHead = false;
  /** The beginning of a head, too short to classify, or an incomplete `100 Continue`. */
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
    const passed: Buffer[] = [];
    while (rest.length > 0) {
      const status = readStatus(rest);
      const end = rest.indexOf(HEAD_END) + HEAD_END.length;
      const isWhole = end >= HEAD_END.length;
      if (status === 'unknown' || (isInterim(status) && !isWhole && rest.length < MAX_HELD_BYTES)) {
        this.#held = rest;
        break;
      }
      if (!isInterim(status) || !isWhole) {
        this.#isAtHead = false;
        passed.push(rest);
        break;
      }
      if (status !== 100) passed.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return passed.length === 1 ? (passed[0] ?? NOTHING) : Buffer.concat(passed);
  }
}

const NOTHING = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const STATUS_LINE = 'HTTP/1.1 100';
/** Longer heads are not held back: undici bounds what it is given. */
const MAX_HELD_BYTES = 32 * 1024;

/** Undefined if it is not a head of HTTP/1, `unknown` if it is too short. */
function readStatus(bytes: Buffer): number | 'unknown' | undefined {
  const text = bytes.toString('latin1', 0, STATUS_LINE.length);
  if (/^HTTP\/1\.\d \d\d\d$/.test(text)) return Number(text.slice(-3));
  return text.length < STATUS_LINE.length && FORM.startsWith(text.replace(/\d/g, '0')) ? 'unknown' : undefined;
}

const FORM = STATUS_LINE.replace(/\d/g, '0');

/** 101 is final: another protocol begins behind it. */
function isInterim(status: number | 'unknown' | undefined): boolean {
  return typeof status === 'number' && status < 200 && status !== 101;
}

/** Code of the error of a connection on which bytes come before a request was written whole: they belong to no request. */
export const EARLY_ANSWER = 'EARLY_ANSWER';

export function earlyAnswer(): Error {
  return Object.assign(new Error('An answer came before its request'), { code: EARLY_ANSWER });
}

/**
 * Passes on what a connection answers, without each `100 Continue`, and ends the connection at bytes that come before
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
