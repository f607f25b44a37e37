import dns from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import { remember } from '../domain/is-object.js';
import { startTimer, systemClock } from '../ports/clock.js';

type Connect = buildConnector.connector;
type Address = buildConnector.Options;

interface Ahead {
  readonly socket: Socket;
  /** Takes it out of those that wait. */
  readonly release: () => void;
  readonly discard: () => void;
}

interface Origin {
  readonly ahead: Ahead[];
  usedAtMs: number;
}

/** Servers close connections on which nothing is asked, few of them so soon. */
const MAX_AHEAD_MS = 2000;

/**
 * Makes connections for undici, on each of which nothing was asked yet.
 *
 * A request with a connection of its own gets one that was made ahead, if there is one, so that it leaves at once and at its
 * turn. Another is then made for the next request, unless the one before came long ago. One that the server speaks on, or
 * closes, before it is asked is never used.
 */
export class Connector {
  readonly #connect: Connect;
  /** Errors before a connection was established, TLS handshake included: no request can have used it. */
  readonly #neverConnected = new WeakSet<Error>();
  readonly #origins = new Map<string, Origin>();
  #isClosed = false;

  constructor(connectMs: number) {
    this.#connect = buildConnector({ timeout: connectMs, lookup: shareLookups() });
  }

  isNeverConnected(error: unknown): boolean {
    return error instanceof Error && this.#neverConnected.has(error);
  }

  /** `report` is called with the time that it took. */
  connect(address: Address, report: ((delayMs: number) => void) | undefined, callback: buildConnector.Callback): void {
    const askedMs = systemClock.monotonicMs();
    this.#open(address, (...result) => {
      if (result[0] === null) report?.(systemClock.monotonicMs() - askedMs);
      callback(...result);
    });
  }

  /** `report` is not called if it was made ahead. */
  connectOwn(address: Address, report: ((delayMs: number) => void) | undefined, callback: buildConnector.Callback) {
    const origin = this.#originOf(address);
    const hand: buildConnector.Callback = (...result) => {
      if (result[0] === null) this.#connectAhead(address);
      callback(...result);
    };
    const ahead = origin.ahead.at(-1);
    if (ahead === undefined) {
      this.connect(address, report, hand);
      return;
    }
    ahead.release();
    // undici does not expect it before this function has returned.
    process.nextTick(hand, null, ahead.socket);
  }

  /** Ends the connections that were made ahead. */
  drop(): void {
    for (const { ahead } of this.#origins.values()) for (const { discard } of [...ahead]) discard();
  }

  close(): void {
    this.#isClosed = true;
    this.drop();
  }

  #originOf({ protocol, host, hostname }: Address): Origin {
    const name = `${protocol}//${host ?? hostname}`;
    return remember(this.#origins, name, () => ({ ahead: [], usedAtMs: Number.NEGATIVE_INFINITY }));
  }

  #connectAhead(address: Address): void {
    const origin = this.#originOf(address);
    const nowMs = systemClock.monotonicMs();
    const isBusy = nowMs - origin.usedAtMs < MAX_AHEAD_MS;
    origin.usedAtMs = nowMs;
    if (!isBusy) return;
    this.#open(address, (error, socket) => {
      if (error !== null) return;
      if (this.#isClosed) socket.destroy();
      else hold(socket, origin.ahead);
    });
  }

  #open(address: Address, callback: buildConnector.Callback): void {
    this.#connect(address, (error, socket) => {
      if (error !== null) {
        const reason = renameOfAnotherHost(error);
        this.#neverConnected.add(reason);
        return callback(reason, null);
      }
      // A server that speaks or closes before it is asked has mostly done so by the next turn: nothing was sent yet.
      let isEarly = false;
      const note = () => {
        isEarly = true;
      };
      socket.once('readable', note);
      setImmediate(() => {
        socket.off('readable', note);
        if (!isEarly && !socket.destroyed) {
          filterAnswers(socket);
          return callback(null, socket);
        }
        socket.destroy();
        const reason = socket.errored ?? earlyAnswer();
        this.#neverConnected.add(reason);
        callback(reason, null);
      });
    });
  }
}

/**
 * Looks a host up once for all that wait for it. Node makes two look-ups at a time and ends none early: while a name server does not
 * answer, those of connections that were given up long ago would keep later ones waiting, and the process alive behind its end.
 */
function shareLookups(): LookupFunction {
  const waiting = new Map<string, Parameters<LookupFunction>[2][]>();
  return (host, options, callback) => {
    const asked = `${host} ${JSON.stringify(options)}`;
    const others = waiting.get(asked);
    if (others !== undefined) {
      others.push(callback);
      return;
    }
    const all = [callback];
    waiting.set(asked, all);
    dns.lookup(host, options, (...answer) => {
      waiting.delete(asked);
      for (const each of all) each(...answer);
    });
  };
}

/** The code of a certificate that is valid for other hosts than the one that was asked for. */
export const OF_ANOTHER_HOST = 'CERT_ALTNAME_INVALID';

/** By Node's own code undici ends the request alone, and a client that is closed then waits for it without end. Measured on undici 7.30. */
function renameOfAnotherHost(error: Error): Error {
  if (!('code' in error) || error.code !== `ERR_TLS_${OF_ANOTHER_HOST}`) return error;
  return Object.assign(new Error(error.message), { code: OF_ANOTHER_HOST });
}

/** Holds a connection until its request comes, or the server speaks or closes, or it has waited too long. */
function hold(socket: Socket, ahead: Ahead[]): void {
  const discard = () => {
    held.release();
    socket.destroy();
  };
  const stopTimer = startTimer(MAX_AHEAD_MS, discard);
  const release = () => {
    stopTimer();
    socket.off('readable', discard).off('close', discard);
    ahead.splice(ahead.indexOf(held), 1);
  };
  const held: Ahead = { socket, release, discard };
  ahead.push(held);
  socket.on('readable', discard).on('close', discard);
}

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

function earlyAnswer(): Error {
  return Object.assign(new Error('An answer came before its request'), { code: EARLY_ANSWER });
}

/**
 * Passes on what a connection answers, without interim answers, and ends the connection at bytes that come before
 * the request was written whole. Bytes that come while there is no request end it in undici. undici reads a connection
 * by `read`, and writes each request at once, before it reads; pipelining is 1.
 */
function filterAnswers(socket: Socket): void {
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
