import { ROW_KINDS } from '../../domain/areas.js';
import { joinFaults, type RowOutcomes } from '../../domain/row.js';
import { ENDPOINTS, RESEND_TOO_EARLY } from '../../domain/service-facts.js';
import type { VerificationStartStep } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import { isAnotherNumber, type Response, readJsonBody } from '../../service/answer.js';
import { readSessionBody } from '../../service/areas/verification.js';
import { buildRequest } from '../../service/endpoint.js';
import { ANOTHER_NUMBER } from '../outcomes.js';
import { appendDestination, appendNumber, bindNumber } from '../row-number.js';
import {
  type DraftRow,
  oneRow,
  oneRowKind,
  type Refusal,
  type RefusalMeaning,
  readNumberOf,
  reject,
} from '../step-kind.js';

/** Refusals that concern every row of a step alike, as those of sms.ts. */
const WHOLE_REQUEST: ReadonlyMap<string, string> = new Map([
  ['1001', 'service.subAccountId'],
  ['1005', 'source'],
  ['1007', 'template'],
  ['1300', 'service.bases, service.region or service.subAccountId'],
]);

/** A session, and so an SMS with a code, for each row. Not idempotent. */
export const verificationStartKind = oneRowKind<VerificationStartStep>({
  ...ROW_KINDS['verification.start'],
  isRepeatable: () => false,
  resultCells: ({ facts }, outcome) => [
    outcome?.ids[0] ?? '',
    facts[0] ?? '',
    outcome?.ids[1] ?? '',
    outcome?.ids[2] ?? '',
    outcome?.ids[3] ?? '',
  ],
  pricedAs: 'sms',
  numberColumn: ({ destination }) => destination,
  bind,
  preview: ({ fragment }) => {
    const { destination, template = 'a code, with the text of the service' } = JSON.parse(fragment.toString('utf8'));
    return { to: destination, text: template };
  },
  comparesBy: ({ duplicates }) => (duplicates === 'skip' ? 'number' : undefined),
  call: (service, body) => buildRequest(service, ENDPOINTS.createSession, { body }),
  recipients: (body) => [readNumberOf(JSON.parse(body.toString('utf8')).destination)],
  wholeRequestCodes: WHOLE_REQUEST,
  answersWith: 'a session for the number',
  readAnswer,
  readRefusal,
});

/** The text is the service's: every row with a number can be sent. */
function bind(step: VerificationStartStep, columns: Columns): DraftRow {
  const { brand, template, codeLength, codeValidity, resendingInterval, resetSession, source, destination } = step;
  const sms = source === undefined ? undefined : { source };
  const shared = JSON.stringify({ brand, template, codeLength, codeValidity, resendingInterval, resetSession, sms });
  const index = columns.find(destination, 'destination');
  const read = bindNumber({ column: destination, index }, step.input, columns);
  return (cells, text) => {
    const number = read(cells);
    if (!('digits' in number)) {
      const [fault, ...others] = number;
      return { refusal: reject(joinFaults(fault, others)) };
    }
    const { digits, country } = number;
    appendDestination(text, digits);
    text.append(`,${shared.slice(1)}`);
    const factsAt = text.length;
    appendNumber(text, digits);
    return { number: digits, country, segments: 1, factsAt };
  };
}

/** Contract: "Verification session (response of creation)". */
function readAnswer(response: Response, body: Buffer): RowOutcomes | undefined {
  const session = readSessionBody(readJsonBody(response));
  if (session === undefined) return undefined;
  if (isAnotherNumber(session.destination, JSON.parse(body.toString('utf8')).destination)) {
    return oneRow(ANOTHER_NUMBER);
  }
  const { sessionId, status, attempt, expiresAt, retryAfter } = session;
  const verdict = { status: 'accepted', code: status, reason: 'A code was sent' } as const;
  return oneRow(verdict, sessionId, String(attempt ?? ''), expiresAt ?? '', retryAfter ?? '');
}

/** The number got an SMS less than `resendingInterval` ago (documented); the service does not say when exactly. */
function readRefusal(
  { code, message, retryAfterMs }: Refusal,
  { resendingInterval, whenTooEarly }: VerificationStartStep,
  nowMs: number,
): RefusalMeaning {
  if (code !== RESEND_TOO_EARLY) return { kind: 'final', code, reason: message };
  const delayMs = retryAfterMs ?? resendingInterval * 1000;
  const delaySeconds = Math.ceil(delayMs / 1000);
  if (whenTooEarly === 'wait')
    return { kind: 'deferred', delayMs, why: `the next SMS is allowed in ${delaySeconds} s` };
  const at = new Date(nowMs + delayMs);
  // A Retry-After may be any number; the sum may not be a valid date.
  const allowed = Number.isNaN(at.getTime())
    ? 'the service asks for a wait that is too long to be a date'
    : `the next is allowed by ${at.toISOString()}`;
  return { kind: 'final', code, reason: `The number got a code a moment ago; ${allowed}` };
}
