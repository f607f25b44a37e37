import type { Socket } from 'node:net';
import type { RowKind } from '../../src/domain/areas.js';
import { anAnswer } from '../service/raw-server.js';
import type { Done } from '../world/service.js';

/**
 * What a fault says about the request that meets it; jobs/reference/limits-and-answers.md, "What an answer means":
 *
 * - `not-sent`, `turned-away`: it was not processed, and that is certain.
 * - `unknown`: it may have been processed.
 * - `unread`: success, and nothing that accounts for its rows.
 * - `elsewhere`: it may have been processed, and a person must look.
 * - `stop`: it was not processed, and a person must look.
 * - `refused`: it was not processed, and its rows are why.
 * - `answered`: every row has its answer, however odd the way it came.
 * - `race`: not processed; whether that can be known hangs on which of two packets comes first.
 * - `stray`: the same, and an answer that no one asked for may be taken for that of the request.
 */
export type Means =
  | 'not-sent'
  | 'turned-away'
  | 'unknown'
  | 'unread'
  | 'elsewhere'
  | 'stop'
  | 'refused'
  | 'answered'
  | 'race'
  | 'stray';

/** One way in which a server fails a request. */
export interface Fault {
  /** Completes "a server that". */
  readonly what: string;
  readonly means: Means;
  /** Only these kinds of steps can meet it; all where not given. */
  readonly kinds?: readonly RowKind[];
  /** Needs an answer to an earlier request. */
  readonly isNeverFirst?: boolean;
  /** There is the same fault after the service has done what was asked. */
  readonly hasTwin?: boolean;
  /** The request ends by a time-out. */
  readonly isStall?: boolean;
  /** No one listens when the request is to be sent. */
  readonly isDown?: boolean;
  /** Meets a new connection, before any byte of the request. */
  readonly onConnection?: (socket: Socket) => void;
  /** Meets the connection that the request would use, behind the answer to the one before. */
  readonly onIdle?: (socket: Socket) => unknown;
  /** Meets the request once it has arrived whole. */
  readonly onRequest?: (wire: Wire) => unknown;
  /** Of the rows of the request, by their place in it, those that the answer leaves open; all where not given. */
  readonly leavesOpen?: (place: number) => boolean;
}

/** What a fault has at hand when its request has arrived. */
export interface Wire {
  readonly socket: Socket;
  /** The service does what was asked, and would answer so; without this call it never saw the request. */
  process(): Done;
  /** What was answered to the request before. */
  readonly earlier: Done | undefined;
  /** Origin of another server, which no one may be sent to. */
  readonly elsewhere: string;
}

/** A fault that may come before the service has seen the request, or after it. */
export function beforeAndAfter({ what, ...fault }: Fault & { onRequest: (wire: Wire) => unknown }): Fault[] {
  return [
    { ...fault, what: `${what}, the request not processed`, hasTwin: true },
    {
      ...fault,
      what: `${what}, the request processed`,
      onRequest: (wire) => {
        wire.process();
        fault.onRequest(wire);
      },
    },
  ];
}

/** As it goes over the wire. */
export function writeAnswer(
  { status, headers, body }: Omit<Done, 'route'>,
  more: Readonly<Record<string, string>> = {},
): string {
  return anAnswer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers, ...more });
}
