import type { Rejection, RowOutcomes, Verdict } from '../domain.js';
import type { VerificationCheckStep } from '../job/job.js';
import type { Response } from '../service/answer.js';
import { PATH_ID } from '../service/endpoint.js';
import { checkCode, readSession, type Session } from '../service/verification.js';
import {
  type BindProblems,
  cellText,
  describeMissing,
  type PlannerContext,
  type RequestPart,
  type RowPlan,
  type RowPlanner,
  type RowReader,
  type Settled,
  type StepKind,
} from './kind.js';
import { giveAllRows, inDoubt } from './outcomes.js';

/**
 * Checks a code for each row, or, without a column of codes, reads the status of each session. A body in the plan holds
 * what the address is made of: `{"sessionId":"…","code":"…"}`.
 */
export const verificationCheckKind: StepKind<VerificationCheckStep> = {
  area: 'verification',
  isRepeatable: (step) => step.code === undefined,
  resultColumns: ['_sessionId', '_attempt', '_expiresAt', '_description'],
  resultCells: ({ facts }, outcome) => [
    facts[0] ?? '',
    outcome?.ids[0] ?? '',
    outcome?.ids[1] ?? '',
    outcome?.verdict.reason ?? '',
  ],
  createPlanner,
  call: (service, body) => {
    const { sessionId, code } = readBody(body);
    return code === undefined
      ? readSession.request(service, { sessionId })
      : checkCode.request(service, { sessionId, code });
  },
  splitBody: (body) => body,
  readOutcomes: (response, part, body) => {
    const { sessionId, code } = readBody(body);
    const session = readSession.read(response, { sessionId });
    if (session === undefined) {
      const reason = `HTTP ${response.status} without the session that was asked for`;
      return giveAllRows(part.count, inDoubt('unreadable-answer', reason));
    }
    return give(session, code === undefined ? judgeStatus(session) : judgeCheck(session));
  },
  settling: {
    call: (service, body) => readSession.request(service, readBody(body)),
    readOutcomes: settleByStatus,
  },
};

interface CheckBody {
  readonly sessionId: string;
  readonly code?: string | undefined;
}

function readBody(body: Buffer): CheckBody {
  return JSON.parse(body.toString('utf8'));
}

function createPlanner(step: VerificationCheckStep, context: PlannerContext): RowPlanner {
  return {
    rowsPerRequest: 1,
    segmentsPerRequest: Number.POSITIVE_INFINITY,
    bind: (columns) => bindColumns(step, columns, context),
    openBody: () => '',
    closeBody: '',
  };
}

function bindColumns(
  step: VerificationCheckStep,
  columns: readonly string[],
  { findColumn }: PlannerContext,
): RowReader | BindProblems {
  const session = findColumn(columns, step.session);
  const code = step.code === undefined ? undefined : findColumn(columns, step.code);
  const problems = [
    ...(session === undefined ? [describeMissing(step.session, 'session', columns)] : []),
    ...(step.code !== undefined && code === undefined ? [describeMissing(step.code, 'code', columns)] : []),
  ];
  if (problems.length > 0 || session === undefined) return { problems };
  return ({ cells }) =>
    planRow(step, cellText(cells, session.index).trim(), code && cellText(cells, code.index).trim());
}

/** Longest code that the service makes, with its dash: facts, "Verification". */
const CODE = /^[A-Za-z0-9-]{3,11}$/;

function planRow(step: VerificationCheckStep, sessionId: string, code: string | undefined): RowPlan {
  if (!PATH_ID.test(sessionId)) {
    const field = step.session;
    return sessionId === ''
      ? reject({ field, code: 'missing-value', reason: 'There is no session id' })
      : reject({ field, code: 'bad-session-id', reason: 'The session id has characters that no id has' });
  }
  if (code !== undefined && !CODE.test(code)) {
    const field = step.code ?? '';
    return code === ''
      ? reject({ field, code: 'missing-value', reason: 'There is no code' })
      : reject({ field, code: 'bad-code', reason: 'A code is 3 to 10 letters or digits' });
  }
  return {
    kind: 'planned',
    row: {
      fragment: JSON.stringify({ sessionId, code }),
      facts: [sessionId],
      messages: 0,
      segments: 0,
      country: undefined,
      forcesUcs2: undefined,
      preview: { to: `session ${sessionId}`, text: code === undefined ? 'its status is read' : 'a code is checked' },
    },
  };
}

function reject(why: Omit<Rejection, 'stage'>): RowPlan {
  return { kind: 'rejected', rejection: { stage: 'normalize', ...why } };
}

/** A read without a code always succeeds: what it found is the result. */
function judgeStatus({ status, attempt }: Session): Verdict {
  return { status: 'accepted', code: status, reason: `The session is ${status}, ${describeAttempts(attempt)}` };
}

/** Contract: "Verification session", states; facts: WAITING after a wrong code, FAILED and EXPIRED are final. */
function judgeCheck({ status, attempt }: Session): Verdict {
  const attempts = describeAttempts(attempt);
  switch (status) {
    case 'VERIFIED':
      return { status: 'accepted', code: status, reason: 'The code is right' };
    case 'WAITING':
      return { status: 'rejected', code: status, reason: `The code is wrong, ${attempts}; another may be tried` };
    case 'FAILED':
      return { status: 'rejected', code: status, reason: `Too many wrong codes, ${attempts}; the session is over` };
    case 'EXPIRED':
      return { status: 'rejected', code: status, reason: 'The code came too late; the session is over' };
    default:
      return inDoubt('unknown-status', `the answer's status is "${status}"`);
  }
}

/** The status tells what became of a check, save where it waits after wrong codes: whether this one was among them is not told. */
function settleByStatus(response: Response, part: RequestPart, body: Buffer): Settled | undefined {
  const session = readSession.read(response, readBody(body));
  if (session === undefined) return undefined;
  const { status, attempt } = session;
  if (status === 'WAITING' && attempt === 0) return { kind: 'again', why: 'the code was not looked at' };
  if (status !== 'WAITING') return { kind: 'settled', outcomes: give(session, judgeCheck(session)) };
  const reason = `No answer came, and the session waits, ${describeAttempts(attempt)}: this code may be one of them`;
  return { kind: 'settled', outcomes: giveAllRows(part.count, inDoubt('no-answer', reason)) };
}

function describeAttempts(attempt: number | undefined): string {
  return attempt === undefined ? 'attempts unknown' : `${attempt} wrong ${attempt === 1 ? 'attempt' : 'attempts'}`;
}

function give({ attempt, expiresAt }: Session, verdict: Verdict): RowOutcomes {
  return { verdicts: [verdict], rows: [[0, String(attempt ?? ''), expiresAt ?? '']], shared: [] };
}
