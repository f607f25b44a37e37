import type { RowOutcomes } from '../domain.js';
import type { VerificationStartStep } from '../job/job.js';
import { type NumberColumn, normalizeCell } from '../normalize/number.js';
import { createNumberSet } from '../plan/dedupe.js';
import type { Response } from '../service/answer.js';
import { RESEND_TOO_EARLY } from '../service/documented.js';
import { createSession, sessionRequest } from '../service/verification.js';
import { findDestination } from './column-search.js';
import {
  type BindProblems,
  type PlannerContext,
  type Refusal,
  type RefusalMeaning,
  type RequestPart,
  type RowPlan,
  type RowPlanner,
  type RowReader,
  type RowRecord,
  type StepKind,
  skipDuplicate,
} from './kind.js';
import { giveAllRows, inDoubt } from './outcomes.js';
import { planRowByRow } from './row-by-row.js';

/** A session, and so an SMS with a code, for each row. Nothing makes it safe to ask for one twice. */
export const verificationStartKind: StepKind<VerificationStartStep> = {
  area: 'verification',
  isRepeatable: () => false,
  resultColumns: ['_sessionId', '_destination', '_attempt', '_expiresAt', '_retryAfter'],
  resultCells: ({ facts }, outcome) => [
    outcome?.ids[0] ?? '',
    facts[0] ?? '',
    outcome?.ids[1] ?? '',
    outcome?.ids[2] ?? '',
    outcome?.ids[3] ?? '',
  ],
  createPlanner,
  call: sessionRequest,
  splitBody: (body) => body,
  readOutcomes,
  readRefusal,
};

function createPlanner(step: VerificationStartStep, context: PlannerContext): RowPlanner {
  const seen = createNumberSet();
  const { brand, template, codeLength, codeValidity, resendingInterval, resetSession, source } = step;
  const sms = source === undefined ? undefined : { source };
  const shared = JSON.stringify({ brand, template, codeLength, codeValidity, resendingInterval, resetSession, sms });
  const readRow = (column: NumberColumn, record: RowRecord, ordinal: number): RowPlan => {
    const number = record.number ?? normalizeCell(record.cells, column);
    if (!number.ok) {
      const { code, reason } = number;
      return { kind: 'rejected', rejection: { stage: 'normalize', field: step.destination, code, reason } };
    }
    const kept = step.duplicates === 'skip' ? seen.add(number.e164, ordinal) : undefined;
    if (kept !== undefined) return skipDuplicate('number', kept, context);
    return {
      kind: 'planned',
      row: {
        fragment: `{"destination":"${number.e164}",${shared.slice(1)}`,
        facts: [number.e164],
        messages: 1,
        segments: 1,
        country: number.country,
        forcesUcs2: undefined,
        preview: { to: number.e164, text: template ?? 'a code, in the words of the service' },
      },
    };
  };
  return {
    ...planRowByRow((columns) => bindColumns(step, columns, { context, readRow })),
    numberIn: (columns) => findDestination(step, columns, context).number,
  };
}

function bindColumns(
  step: VerificationStartStep,
  columns: readonly string[],
  {
    context,
    readRow,
  }: {
    context: PlannerContext;
    readRow: (column: NumberColumn, record: RowRecord, ordinal: number) => RowPlan;
  },
): RowReader | BindProblems {
  const { number, problems } = findDestination(step, columns, context);
  return number === undefined ? { problems } : (record, ordinal) => readRow(number, record, ordinal);
}

/** Contract: "Verification session (response of creation)". */
function readOutcomes(response: Response, { count }: RequestPart, body: Buffer): RowOutcomes {
  const session = createSession.read(response, JSON.parse(body.toString('utf8')));
  if (session === undefined) {
    const reason = `HTTP ${response.status} that names no session for the number`;
    return giveAllRows(count, inDoubt('unreadable-answer', reason));
  }
  const { sessionId, status, attempt, expiresAt, retryAfter } = session;
  const verdict = { status: 'accepted', code: status, reason: 'A code was sent' } as const;
  return {
    verdicts: [verdict],
    rows: [[0, sessionId, String(attempt ?? ''), expiresAt ?? '', retryAfter ?? '']],
    shared: [],
  };
}

/** The number got an SMS less than `resendingInterval` ago (facts: Verification); the service does not say when exactly. */
function readRefusal(
  { code, message, retryAfterMs }: Refusal,
  { resendingInterval, whenTooEarly }: VerificationStartStep,
  nowMs: number,
): RefusalMeaning {
  if (code !== RESEND_TOO_EARLY) return { kind: 'final', code, reason: message };
  const delayMs = retryAfterMs ?? resendingInterval * 1000;
  const delaySeconds = Math.ceil(delayMs / 1000);
  if (whenTooEarly === 'wait') return { kind: 'later', delayMs, why: `another SMS is allowed in ${delaySeconds} s` };
  const at = new Date(nowMs + delayMs);
  // A Retry-After may be any number; what it comes to may be no date.
  const allowed = Number.isNaN(at.getTime())
    ? 'the service asks for a wait that no date can be written for'
    : `another is allowed at ${at.toISOString()} at the latest`;
  return { kind: 'final', code, reason: `The number got a code a moment ago; ${allowed}` };
}
