import { createHash } from 'node:crypto';
import type { AreaCall, AreaDeps, SandboxArea } from '../area.js';
import { findRowFault } from '../faults/chosen.js';
import { answerError, answerJson, answerRowFault, ERROR_CODE, type HttpAnswer, isRefusal } from '../http-answer.js';
import type { Fields } from '../ledger/entry-head.js';
import { CREATION_DISTORTIONS, READ_DISTORTIONS } from './distort-session.js';
import {
  type KeptSession,
  openSession,
  resendCode,
  statusAt,
  toCreationBody,
  toReadBody,
  tryCode,
} from './kept-session.js';
import { readSessionRequest } from './session-request.js';
import type { VerificationEntry } from './verification-entry.js';

const SESSIONS = '/api/v2/subaccounts/:subAccountId/sessions';

/** Verification: a code goes out by SMS, and a session says whether it came back. At most one session of a number is WAITING. */
export function createVerificationArea({ clock, keyring, ledger, newId }: AreaDeps): SandboxArea {
  const sessions = new Map<string, KeptSession>();
  /** The last session of each number of each subaccount. */
  const lastIdOf = new Map<string, string>();

  const put = (session: KeptSession) => {
    sessions.set(session.sessionId, session);
    lastIdOf.set(`${session.subAccountId} ${session.destination}`, session.sessionId);
  };

  const authorize = ({ headers, params: { subAccountId = '' } }: AreaCall) =>
    keyring.refuseSubAccount(headers.authorization, subAccountId, clock.now());

  const findWaiting = (subAccountId: string, destination: number, now: number): KeptSession | undefined => {
    const session = sessions.get(lastIdOf.get(`${subAccountId} ${destination}`) ?? '');
    return session !== undefined && statusAt(session, now) === 'WAITING' ? session : undefined;
  };

  const createSession = async (call: AreaCall): Promise<HttpAnswer> => {
    const now = clock.now();
    const request = readSessionRequest(call.body);
    if (isRefusal(request)) return answerError(400, request, now);
    const refused = answerRowFault(findRowFault(call.rowFaults, String(request.destination)), now);
    if (refused !== undefined) return refused;
    const { subAccountId = '' } = call.params;
    return ledger.accept({ at: now, area: 'verification', request: call.number }, () => {
      const waiting = findWaiting(subAccountId, request.destination, now);
      if (waiting !== undefined && now < Date.parse(waiting.nextSmsAfter)) {
        return { answer: () => answerTooEarly(waiting, now) };
      }
      const session =
        waiting === undefined || request.resetSession
          ? openSession(
              {
                sessionId: waiting?.sessionId ?? newId().replaceAll('-', ''),
                subAccountId,
                code: createCode(newId(), request.codeLength),
              },
              request,
              now,
            )
          : resendCode(waiting, request, now);
      return { rows: [toRow('code-sent', session)], answer: () => answerJson(200, toCreationBody(session, now)) };
    });
  };

  const readSession = async (call: AreaCall): Promise<HttpAnswer> => {
    const now = clock.now();
    const { subAccountId, sessionId = '' } = call.params;
    const { code } = call.query;
    return ledger.accept({ at: now, area: 'verification', request: call.number }, () => {
      const session = sessions.get(sessionId);
      if (session === undefined || session.subAccountId !== subAccountId) {
        return { answer: () => answerError(404, NOT_FOUND, now) };
      }
      if (code === undefined) return { answer: () => answerJson(200, toReadBody(session, now)) };
      if (!isCode(code)) return { answer: () => answerError(400, INVALID_CODE, now) };
      const checked = tryCode(session, code, now);
      return {
        rows: checked === session ? [] : [toRow('code-checked', checked)],
        answer: () => answerJson(200, toReadBody(checked, now)),
      };
    });
  };

  return {
    name: 'verification',
    routes: [
      {
        method: 'POST',
        path: SESSIONS,
        takesBody: true,
        authorize,
        recipients: readRecipient,
        handle: createSession,
        distortions: CREATION_DISTORTIONS,
      },
      {
        method: 'GET',
        path: `${SESSIONS}/:sessionId`,
        takesBody: false,
        authorize,
        recipients: () => [],
        handle: readSession,
        distortions: READ_DISTORTIONS,
      },
    ],
    apply: (rows) => {
      for (const { event: _, ...session } of rows as unknown as readonly SessionRow[]) put(session);
    },
    clear: () => {
      sessions.clear();
      lastIdOf.clear();
    },
    addControl: (app) => {
      app.get<{ Params: { sessionId: string } }>('/_sandbox/sessions/:sessionId', async ({ params }, reply) => {
        const now = clock.now();
        const session = sessions.get(params.sessionId);
        if (session === undefined) return reply.code(404).send(answerError(404, NOT_FOUND, now).body);
        return { ...session, status: statusAt(session, now) };
      });
    },
  };
}

type SessionRow = KeptSession & Pick<VerificationEntry, 'event'>;

function toRow(event: SessionRow['event'], session: KeptSession): SessionRow & Fields {
  return { event, ...session };
}

const NOT_FOUND = { code: ERROR_CODE.notFound, message: 'Session not found' };

/** Documented length. A refused code is not an attempt. */
const INVALID_CODE = { code: ERROR_CODE.invalidParameter, message: 'code must be a text of 3 to 10 characters' };

function isCode(code: unknown): code is string {
  return typeof code === 'string' && code.length >= 3 && code.length <= 10;
}

/** Digits that follow from the id: who gives the ids knows the codes. */
function createCode(id: string, length: number): string {
  const digest = createHash('sha256').update(id).digest('hex');
  return (BigInt(`0x${digest}`) % 10n ** BigInt(length)).toString().padStart(length, '0');
}

function answerTooEarly({ nextSmsAfter }: KeptSession, now: number): HttpAnswer {
  const message = `Resending interval has not passed, another SMS is allowed after ${nextSmsAfter}`;
  return answerError(403, { code: ERROR_CODE.resendInterval, message }, now);
}

function readRecipient(body: unknown): readonly string[] {
  const destination = typeof body === 'object' && body !== null && 'destination' in body ? body.destination : '';
  return [typeof destination === 'string' ? destination : ''];
}
