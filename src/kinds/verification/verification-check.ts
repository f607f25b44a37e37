import { ROW_KINDS } from '../../domain/areas.js';
import { DESTINATION_COLUMN } from '../../domain/output-columns.js';
import { joinFaults, type Rejection, type RowOutcomes, type Verdict } from '../../domain/row.js';
import type { RejectionCode } from '../../domain/row-codes.js';
import { CODE_LENGTH } from '../../domain/service-facts.js';
import type { VerificationCheckStep } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { isAnotherNumber, type Response } from '../../service/answer.js';
import { checkCode, readSession, type Session, VERIFICATION_CODE } from '../../service/areas/verification.js';
import { PATH_ID } from '../../service/endpoint.js';
import { ANOTHER_NUMBER, inDoubt } from '../outcomes.js';
import { type DraftRow, draftRequest, oneRow, oneRowKind, type RequestPart, reject, type Seen } from '../step-kind.js';

/**
 * Checks a code for each row, or, without a column of codes, reads the status of each session. A session has one row
 * of a step: after a lost answer its status could not show which of two codes was right. A code is sent only to a
 * waiting session. A body in the plan holds the parts of the address, and the session's number, if the row has it:
 * `{"sessionId":"…","code":"…","destination":"+…"}`.
 */
export const verificationCheckKind = oneRowKind<VerificationCheckStep>({
  ...ROW_KINDS['verification.check'],
  isRepeatable: (step) => step.code === undefined,
  resultCells: ({ facts: [sessionId = '', number = ''] }, outcome) => {
    const [attempt = '', expiresAt = '', destination = '', nextSmsAfter = ''] = outcome?.ids ?? [];
    return [sessionId, destination || number, attempt, expiresAt, nextSmsAfter, outcome?.verdict.reason ?? ''];
  },
  numberColumn: () => undefined,
  bind,
  preview: ({ fragment }) => {
    const { sessionId, code } = readBody(fragment);
    return { to: `session ${sessionId}`, text: code === undefined ? 'its status is read' : 'a code is checked' };
  },
  comparesBy: () => 'session',
  precondition: {
    isNeeded: ({ code }) => code !== undefined,
    call: (service, body) => readSession.request(service, readBody(body)),
    readAnswer: readLook,
    unread: {
      status: 'rejected',
      code: 'not-checked' satisfies RejectionCode,
      reason: 'Its session could not be read: this code was not checked',
    },
  },
  call: (service, body) => {
    const { sessionId, code } = readBody(body);
    return code === undefined
      ? readSession.request(service, { sessionId })
      : checkCode.request(service, { sessionId, code });
  },
  answersWith: 'the session that was asked for',
  readAnswer: (response, body, part) => readVerdict(response, body, (session) => judgeCheck(session, part.seen)),
  outcomeQuery: {
    call: (service, body) => readSession.request(service, readBody(body)),
    readOutcomes: (response, _part, body) => readVerdict(response, body, judgeLostCheck),
  },
});

/** `judge`: of a session whose code was, or may have been, checked. */
function readVerdict(response: Response, body: Buffer, judge: (session: Session) => Verdict): RowOutcomes | undefined {
  const { sessionId, code, destination } = readBody(body);
  const session = readSession.read(response, { sessionId });
  if (session === undefined) return undefined;
  if (isOfAnother(session, destination)) return oneRow(ANOTHER_NUMBER);
  return give(session, code === undefined ? judgeStatus(session) : judge(session));
}

/** Reads the state of a session before its check: only a waiting one can be checked; one that has ended says how, whatever code it gets. */
function readLook(response: Response, _part: RequestPart, body: Buffer): RowOutcomes | Seen | undefined {
  const { sessionId, destination } = readBody(body);
  const session = readSession.read(response, { sessionId });
  if (session === undefined) return undefined;
  if (isOfAnother(session, destination)) {
    const reason = 'The session belongs to a number other than the one in the row: this code was not checked';
    return oneRow({ status: 'rejected', code: ANOTHER_NUMBER.code, reason });
  }
  const { status } = session;
  if (status === 'WAITING') return { seen: session.attempt ?? 0 };
  const code = status === 'FAILED' || status === 'EXPIRED' ? status : 'not-checked';
  const reason = `The session was ${status} already: this code was not checked`;
  return give(session, { status: 'rejected', code, reason });
}

function readBody(body: Buffer): { sessionId: string; code?: string; destination?: string } {
  return JSON.parse(body.toString('utf8'));
}

function bind(step: VerificationCheckStep, columns: Columns): DraftRow {
  const sessionIndex = columns.find(step.session, 'session');
  const codeIndex = columns.findAny(step.code, 'code');
  const numberIndex = columns.names.indexOf(DESTINATION_COLUMN);
  const reason = 'The session id contains characters that are not allowed';
  const badSession = { field: step.session, code: 'bad-session-id', reason } as const;
  const form = `A code is ${CODE_LENGTH.min} to ${CODE_LENGTH.max} letters or digits`;
  const badCode = { field: step.code ?? '', code: 'bad-code', reason: form } as const;
  return (cells, text) => {
    const sessionId = cells.cell(sessionIndex).trim();
    const code = codeIndex === undefined ? undefined : cells.cell(codeIndex).trim();
    const destination = readE164(cells.cell(numberIndex));
    const [fault, ...others] = [
      ...listFaults(sessionId, PATH_ID, badSession, 'The session id is missing'),
      ...(code === undefined ? [] : listFaults(code, VERIFICATION_CODE, badCode, 'The code is missing')),
    ];
    if (fault !== undefined) return { refusal: reject(joinFaults(fault, others)) };
    const facts = destination === undefined ? [sessionId] : [sessionId, destination];
    return draftRequest(text, { sessionId, code, destination }, { facts });
  };
}

/** Results of a start hold E.164; a spreadsheet drops its plus. Undefined for anything else. */
function readE164(cell: string): string | undefined {
  const digits = cell.trim().replace(/^\+/, '');
  return /^[1-9]\d{6,14}$/.test(digits) ? `+${digits}` : undefined;
}

/** Why a cell is not sent, which has a form. */
function listFaults(cell: string, form: RegExp, fault: Omit<Rejection, 'stage'>, missing: string): Rejection[] {
  if (form.test(cell)) return [];
  const { field } = fault;
  const why = cell === '' ? ({ field, code: 'missing-value', reason: missing } as const) : fault;
  return [{ stage: 'normalize', ...why }];
}

/** A read without a code always succeeds: what it found is the result. */
function judgeStatus({ status, attempt }: Session): Verdict {
  return { status: 'accepted', code: status, reason: `The session is ${status}, ${describeAttempts(attempt)}` };
}

/** Contract: "Verification session", states. Documented: WAITING after a wrong code, FAILED and EXPIRED are final. */
function judgeCheck({ status, attempt }: Session, attemptsBefore = -1): Verdict {
  // A wrong code counts as an attempt: if there is none more, this is the late answer to the earlier read.
  if (status === 'WAITING' && (attempt ?? 0) <= attemptsBefore) {
    return inDoubt('unreadable-answer', 'the session is still waiting, as before the code');
  }
  const attempts = describeAttempts(attempt);
  switch (status) {
    case 'VERIFIED':
      return { status: 'accepted', code: status, reason: 'The code is right' };
    case 'WAITING':
      return { status: 'rejected', code: status, reason: `The code is wrong, ${attempts}; the person can try another` };
    case 'FAILED':
      return { status: 'rejected', code: status, reason: `Too many wrong codes, ${attempts}; the session is over` };
    case 'EXPIRED':
      return { status: 'rejected', code: status, reason: 'The code came too late; the session is over' };
    default:
      return inDoubt('unknown-status', `the answer's status is "${status}"`);
  }
}

/**
 * What the status says about a check without an answer: how its session ended, never whether its code was right. A
 * waiting session resolves nothing, with or without attempts: the code may be one of them, or be checked later.
 */
function judgeLostCheck({ status, attempt }: Session): Verdict {
  const attempts = describeAttempts(attempt);
  switch (status) {
    case 'VERIFIED':
      return { status: 'accepted', code: status, reason: 'The session is verified; the answer to this code was lost' };
    case 'WAITING':
      return inDoubt(
        'no-answer',
        `No answer came, and the session is still waiting, ${attempts}: the code may still be checked`,
      );
    case 'FAILED':
    case 'EXPIRED':
      return {
        status: 'rejected',
        code: status,
        reason: `The session is over, ${attempts}; the answer to this code was lost`,
      };
    default:
      return inDoubt('unknown-status', `No answer came, and the status of the session is "${status}"`);
  }
}

/** The row names the session's number, and the service another. */
function isOfAnother(session: Session, destination: string | undefined): boolean {
  return destination !== undefined && isAnotherNumber(session.destination, destination);
}

function describeAttempts(attempt: number | undefined): string {
  return attempt === undefined ? 'attempts unknown' : `${attempt} wrong ${attempt === 1 ? 'attempt' : 'attempts'}`;
}

function give({ attempt, expiresAt, destination, retryAfter }: Session, verdict: Verdict): RowOutcomes {
  const more = destination === undefined && retryAfter === undefined ? [] : [destination ?? '', retryAfter ?? ''];
  return oneRow(verdict, String(attempt ?? ''), expiresAt ?? '', ...more);
}
