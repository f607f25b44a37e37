import { ROW_KINDS } from '../../domain/areas.js';
import type { ByteCells } from '../../domain/bytes/row-block.js';
import type { TextBuffer } from '../../domain/bytes/text-buffer.js';
import { joinFaults, type Rejection, type RowOutcomes } from '../../domain/row.js';
import { ENDPOINTS } from '../../domain/service-facts.js';
import type { SmsStep } from '../../job/job.js';
import type { Columns } from '../../normalize/columns.js';
import type { NumberDigits } from '../../normalize/number/number-fast.js';
import { isAnotherNumber, readJsonBody } from '../../service/answer.js';
import { readSmsBatchAnswer, type SmsBatchAnswer } from '../../service/areas/sms.js';
import { buildRequest } from '../../service/endpoint.js';
import type { RefusedRendering } from '../../template/bind-template.js';
import type { RenderFault } from '../../template/missing.js';
import { parseTemplate } from '../../template/parse.js';
import { checkText, omitReplaceable, replaceTypography, type SegmentCount } from '../../template/segments.js';
import { clientBatchIdOf, messageIdPrefix, readMessageIndex } from '../ids.js';
import { ANOTHER_NUMBER, gatherOutcomes, inDoubt, sameVerdictForAll } from '../outcomes.js';
import { appendDestination, appendNumber, bindNumber } from '../row-number.js';
import { findTimeFault } from '../schedule.js';
import {
  type DraftedRow,
  type DraftRow,
  type RequestPart,
  type RowDraft,
  type RowPlanner,
  reject,
  type StepKind,
} from '../step-kind.js';
import { createTextDigest, listTexts, readSentNumbers } from './sms-texts.js';

/**
 * Refusal codes that concern every row of a step alike, and what in the job or the account they are about: splitting
 * the request would not help. Documented, "Error codes". 1005 is among them, as no row has a source of its own.
 */
export const SMS_WHOLE_REQUEST: ReadonlyMap<string, string> = new Map([
  ['1001', 'service.subAccountId'],
  ['1003', 'template.encoding'],
  ['1005', 'template.source'],
  ['1006', 'template.expiry'],
  ['1007', 'template.text'],
  ['1011', 'template.scheduled'],
  ['1300', 'service.bases, service.region or service.subAccountId'],
  ['3013', 'batchSize'],
  ['3014', 'batchSize'],
  ['3020', 'service.dlrCallbackUrl'],
]);

/** Rows become batches that share a template. A batch is not idempotent. */
export const smsKind: StepKind<SmsStep> = {
  ...ROW_KINDS.sms,
  isRepeatable: () => false,
  resultCells: (row, outcome) => [
    outcome?.ids[0] ?? '',
    `${messageIdPrefix(row.planId, row.step)}${row.index}`,
    outcome?.shared[0] ?? '',
    row.facts[0] ?? '',
    row.facts[1] ?? '',
    outcome?.verdict.reason ?? '',
  ],
  pricedAs: 'sms',
  numberColumn: ({ destination }) => destination,
  bind: bindSms,
  createPlanner: createSmsPlanner,
  comparesBy: ({ duplicates }) => (duplicates === 'skip' ? 'number' : undefined),
  listTexts,
  call: (service, body) => buildRequest(service, ENDPOINTS.sendBatch, { body }),
  splitBody,
  recipients: readSentNumbers,
  wholeRequestCodes: SMS_WHOLE_REQUEST,
  findTimeFault: ({ template }, nowMs) => findTimeFault(template, nowMs),
  readOutcomes: (response, part, body) => {
    const answer = readSmsBatchAnswer(readJsonBody(response));
    if (answer === undefined) {
      return sameVerdictForAll(
        part.count,
        inDoubt('unreadable-answer', `HTTP ${response.status} without a batch's answer`),
      );
    }
    return readBatchOutcomes(answer, part, body);
  },
};

/** Drafts → messages. */
function createSmsPlanner(step: SmsStep, planId: string, number: number): RowPlanner {
  const sharedText = findSharedText(step);
  const bounds = boundBatch(step);
  const digest = createTextDigest(step.template.source);
  const shared = sharedText === undefined ? undefined : digest(sharedText);
  const readMessage = ({ fragment }: DraftedRow) => JSON.parse(`${fragment}}`);
  const { timeZone } = step.window ?? {};
  const { source, encoding, scheduled, expiry } = step.template;
  const times = { scheduled: scheduled?.at, expiry: expiry?.at };
  // What the messages of a batch share. Contract: "Template object".
  const template = JSON.stringify({
    source,
    text: sharedText,
    encoding,
    ...times,
    dlrCallbackUrl: step.dlrCallbackUrl,
  });
  return {
    rowsPerRequest: bounds.messages,
    segmentsPerRequest: bounds.segments,
    hours: typeof timeZone === 'string' && timeZone !== 'recipient' ? timeZone : undefined,
    digestText: (row) => shared ?? digest(readMessage(row).text),
    indexed: { before: `,"clientMessageId":"${messageIdPrefix(planId, number)}`, behind: '"}' },
    preview: (row) => {
      const { destination, text = sharedText } = readMessage(row);
      return { to: destination, text };
    },
    openBody: (request) => {
      const clientBatchId = clientBatchIdOf({ planId, step: number, request, part: '' });
      return `{"clientBatchId":"${clientBatchId}","includeMessagesInResponse":true,"template":${template},"messages":[`;
    },
    closeBody: ']}',
  };
}

/**
 * The batch size of the job, or less: a request is sent whole, so one larger than the limits of a second would exceed
 * them however long the lane waits.
 */
export function boundBatch({ batchSize, limits }: Pick<SmsStep, 'batchSize' | 'limits'>) {
  const { messagesPerSecond = Infinity, segmentsPerSecond = Infinity } = limits;
  return {
    messages: Math.max(1, Math.floor(Math.min(batchSize, messagesPerSecond))),
    segments: Math.max(1, Math.floor(segmentsPerSecond)),
  };
}

function splitBody(body: Buffer, part: RequestPart): Buffer {
  const batch = JSON.parse(body.toString('utf8'));
  const from = part.first - part.requestFirst;
  const messages = batch.messages.slice(from, from + part.count);
  return Buffer.from(JSON.stringify({ ...batch, clientBatchId: clientBatchIdOf(part), messages }));
}

/**
 * Joins by clientMessageId alone: umids repeat, and the order of messages is not promised. An id that comes with
 * another number than it was sent with counts for no row.
 */
function readBatchOutcomes(answer: SmsBatchAnswer, part: RequestPart, body: Buffer): RowOutcomes {
  if (answer.clientBatchId !== undefined && answer.clientBatchId !== clientBatchIdOf(part)) {
    return sameVerdictForAll(part.count, inDoubt('foreign-answer', 'the answer belongs to another batch'));
  }
  if (answer.messages === undefined) return readCounts(answer, part);

  const outcomes = gatherOutcomes(part.count);
  const prefix = messageIdPrefix(part.planId, part.step);
  const numbers = readSentNumbers(body, part.count);
  for (const message of answer.messages) {
    const row = (readMessageIndex(message.clientMessageId, prefix) ?? -1) - part.first;
    if (row < 0 || row >= part.count) continue;
    const { code, description } = message;
    if (isAnotherNumber(message.destination, numbers[row])) outcomes.give(row, ANOTHER_NUMBER, []);
    else if (code === 'QUEUED') outcomes.give(row, { status: 'accepted', code, reason: description }, [message.umid]);
    else if (code === 'REJECTED') outcomes.give(row, { status: 'rejected', code, reason: description }, [message.umid]);
    else outcomes.give(row, inDoubt('unknown-status', `the answer's status is "${code}"`), [message.umid]);
  }
  return outcomes.build('the answer does not mention the row', [answer.batchId]);
}

/** `messages` is null though requested: only a full count of our own batch covers every row. */
function readCounts(answer: SmsBatchAnswer, part: RequestPart): RowOutcomes {
  const { count } = part;
  const isOurs = answer.clientBatchId === clientBatchIdOf(part);
  if (isOurs && answer.acceptedCount === count && (answer.rejectedCount ?? 0) === 0) {
    const reason = 'Accepted as a batch; the service gave no message ids';
    return { ...sameVerdictForAll(count, { status: 'accepted', code: 'ACCEPTED', reason }), shared: [answer.batchId] };
  }
  const counts = `${answer.acceptedCount ?? '?'} of ${count}`;
  return sameVerdictForAll(
    count,
    inDoubt('no-message-results', `the answer counts ${counts} accepted, without saying which`),
  );
}

/** The text of a template without variables, which the rows share; undefined where each has its own. Throws UserError 'bad-job' for an invalid template. */
function findSharedText({ template: { text, smartReplace } }: SmsStep): string | undefined {
  const { constant } = parseTemplate(text);
  return constant === undefined ? undefined : replaceIn(constant, smartReplace).text;
}

function replaceIn(text: string, smartReplace = false): { readonly text: string; readonly replaced?: string } {
  return (smartReplace ? replaceTypography(text) : undefined) ?? { text };
}

/** The length of a text that can be sent, or why it cannot, whatever the number. */
type CheckedText =
  | { readonly count: SegmentCount; readonly replaced: string | undefined }
  | readonly [Rejection, ...Rejection[]];

/** Rows → number, text, length. */
function bindSms(step: SmsStep, columns: Columns): DraftRow {
  const { encoding, smartReplace = false } = step.template;
  const index = columns.find(step.destination, 'destination');
  const readNumber = bindNumber({ column: step.destination, index }, step.input, columns);
  const template = parseTemplate(step.template.text);
  const { render } = template.bind(columns);
  const check = ({ text, replaced }: ReturnType<typeof replaceIn>): CheckedText => {
    const checked = checkText(text, encoding);
    return 'code' in checked ? [checked] : { count: nameForcing(checked, smartReplace), replaced };
  };
  const writeText = (cells: ByteCells, json: TextBuffer): CheckedText => {
    const start = json.length;
    const rendering = render(cells, json);
    if (!rendering.ok) return rejectRendering(rendering);
    const text = replaceIn(rendering.text, smartReplace);
    if (text.replaced !== undefined) {
      json.endAt(start);
      json.append(JSON.stringify(text.text));
    }
    return check(text);
  };
  const shared = template.constant === undefined ? undefined : check(replaceIn(template.constant, smartReplace));
  return (cells, fragment) => {
    const start = fragment.length;
    const number = readNumber(cells);
    if ('digits' in number) appendDestination(fragment, number.digits);
    if (shared === undefined) fragment.appendShort(',"text":');
    const text = shared ?? writeText(cells, fragment);
    if ('digits' in number && 'count' in text) return endMessage(number, text, fragment);
    fragment.endAt(start);
    if (!('digits' in number)) return refuseRow(undefined, [...number, ...('count' in text ? [] : text)]);
    return refuseRow(number, text as readonly [Rejection, ...Rejection[]]);
  };
}

/** Omits characters that force UCS-2 now, but are replaced as soon as the others are gone. */
function nameForcing(count: SegmentCount, smartReplace: boolean): SegmentCount {
  const { ucs2Characters } = count;
  return smartReplace && ucs2Characters !== undefined
    ? { ...count, ucs2Characters: omitReplaceable(ucs2Characters) }
    : count;
}

function rejectRendering({ others, ...first }: RefusedRendering): [Rejection, ...Rejection[]] {
  const describe = ({ variable: field, code, reason }: RenderFault): Rejection => {
    return { stage: 'render', field, code, reason };
  };
  return [describe(first), ...others.map(describe)];
}

function endMessage(
  { digits, country }: NumberDigits,
  { count, replaced }: Extract<CheckedText, { readonly count: SegmentCount }>,
  text: TextBuffer,
): RowDraft {
  const { segments, extraParts, ucs2Characters: forcesUcs2 } = count;
  const factsAt = text.length;
  appendNumber(text, digits);
  text.appendShort(',"');
  text.appendInteger(segments);
  text.appendShort('"');
  if (replaced !== undefined) text.append(`,${JSON.stringify(replaced)}`);
  return { number: digits, country, segments, extraParts, forcesUcs2, replaced, factsAt };
}

/** Refuses a row with all its faults; that of a number comes first. */
function refuseRow(
  number: NumberDigits | undefined,
  [fault, ...others]: readonly [Rejection, ...Rejection[]],
): RowDraft {
  return { number: number?.digits, country: number?.country, refusal: reject(joinFaults(fault, others)) };
}
