import type { Clock } from '../../ports/clock.js';
import { type AreaCall, type Distortable, defineRoute, type Route, type SandboxArea } from '../area.js';
import { chooseRows } from '../faults/fault-set.js';
import { ERROR_CODE, type RefusedRequest } from '../http-answer.js';
import type { Fields } from '../ledger/entry-head.js';
import { createRandom, shuffle } from '../random.js';
import type { RateLimits } from '../rate-limit.js';
import { type BatchRequest, createBatchSchema, type MessageRequest, type SmsRow } from './batch-schema.js';
import { sendReceipts } from './receipts.js';
import { measureText, type TextMeasure } from './sms-text.js';

interface KnownBatch {
  readonly subAccountId: string;
  /** How many messages wait for which time, in ms since 1970. */
  readonly scheduled: Map<number, number>;
}

const MESSAGES = '/api/v1/subaccounts/:subAccountId/messages';
const BATCHES = `${MESSAGES}/batch`;

/** SMS batch: a batch is accepted message by message, and can be cancelled until its time. */
export function createSmsArea(
  clock: Clock,
  newId: () => string,
  limits: RateLimits,
  isCancelled: (batchId: string) => boolean,
): SandboxArea {
  const batches = new Map<string, KnownBatch>();

  return {
    name: 'sms',
    rates: [
      { perSecond: limits.perAddress, of: ({ ip }) => ip },
      { perSecond: limits.perSubAccount, of: ({ params }) => params.subAccountId ?? '' },
    ],
    routes: [
      defineRoute({
        method: 'POST',
        path: BATCHES,
        who: 'subAccountId',
        body: createBatchSchema(() => clock.now()),
        recipients: readDestinations,
        isBatch: true,
        distortions: BATCH_DISTORTIONS,
        handle: (call) => {
          const { body: batch, at } = call;
          const judged = judgeMessages(batch, at);
          const isStrict = call.rowFaults.some(({ fault }) => fault.kind === 'strict-numbers');
          if (isStrict && judged.some(({ message }) => !MSISDN.test(message.destination))) return BAD_NUMBER;
          refuseByFaults(judged, call);
          const batchId = newId();
          const { subAccountId = '' } = call.params;
          const entries = judged.flatMap((one, place) =>
            one.description === ACCEPTED
              ? [toRow(one, batch, { batchId, subAccountId, umid: umidOf(batchId, place + 1) })]
              : [],
          );
          const body = (): BatchAnswer => ({
            batchId,
            clientBatchId: batch.clientBatchId ?? null,
            acceptedCount: entries.length,
            rejectedCount: judged.length - entries.length,
            messages: batch.includeMessagesInResponse ? toAnswerRows(judged, batchId, call.number) : null,
          });
          return {
            status: 200,
            body,
            entries,
            posts: (webhooks) => sendReceipts(webhooks, entries, clock, isCancelled),
          };
        },
      }),
      defineRoute({
        method: 'DELETE',
        path: `${BATCHES}/:batchId`,
        who: 'subAccountId',
        handle: ({ at, params: { subAccountId, batchId = '' } }) => {
          const batch = batches.get(batchId);
          if (batch === undefined || batch.subAccountId !== subAccountId) {
            return { status: 404, message: 'Batch not found' };
          }
          let cancelledCount = 0;
          if (!isCancelled(batchId)) {
            for (const [time, count] of batch.scheduled) if (time > at) cancelledCount += count;
          }
          const answer = { status: 200, body: { cancelledCount } };
          return cancelledCount === 0 ? answer : { ...answer, cancels: batchId };
        },
      }),
      defineRoute({
        method: 'GET',
        path: `${MESSAGES}/:umid`,
        who: 'subAccountId',
        // Details of a message are in the ledger alone.
        handle: () => ({ status: 404, message: 'Message not found' }),
      }),
    ],
    apply: (entry) => {
      const { batchId, subAccountId, scheduled } = entry as unknown as SmsRow;
      const batch = batches.get(batchId) ?? { subAccountId, scheduled: new Map<number, number>() };
      batches.set(batchId, batch);
      if (scheduled === null) return;
      const time = Date.parse(scheduled);
      batch.scheduled.set(time, (batch.scheduled.get(time) ?? 0) + 1);
    },
    resume: (entries) => {
      // Others had their receipts, or lost them with the process.
      const isAhead = ({ scheduled }: SmsRow) => scheduled !== null && Date.parse(scheduled) > clock.now();
      const ahead = (entries as unknown as readonly SmsRow[]).filter(isAhead);
      return ahead.length === 0 ? undefined : (webhooks) => sendReceipts(webhooks, ahead, clock, isCancelled);
    },
    clear: () => batches.clear(),
  };
}

/** The service's judgement of one message; a description other than `ACCEPTED` means REJECTED. */
interface JudgedMessage {
  readonly message: MessageRequest;
  description: string;
  /** The text in force: the message's own, else the template's. */
  readonly text: string;
  readonly measure: TextMeasure;
}

const ACCEPTED = 'SMS is accepted and queued for processing';
const INVALID_MSISDN = 'Invalid MSISDN format (not E.164 international number)';
const BAD_NUMBER: RefusedRequest = { status: 400, code: ERROR_CODE.invalidMsisdn, message: INVALID_MSISDN };

/** Limits of the service's documentation. */
const MSISDN = /^\+?[1-9][0-9]{6,14}$/;
const MAX_PARTS = 10;
const MAX_NUMERIC_SOURCE = 16;
const MAX_ALPHANUMERIC_SOURCE = 11;

/** Judges the messages of a batch; measures a text once that messages in a row share. `now` in ms since 1970. */
function judgeMessages({ messages, template }: BatchRequest, now: number): JudgedMessage[] {
  let lastText: string | undefined;
  let lastEncoding: string | undefined;
  let measure: TextMeasure = { encoding: 'GSM7', parts: 1 };
  return messages.map((message) => {
    const text = message.text ?? template.text ?? '';
    const encoding = message.encoding ?? template.encoding ?? 'AUTO';
    if (text !== lastText || encoding !== lastEncoding) measure = measureText(text, encoding);
    lastText = text;
    lastEncoding = encoding;
    const source = message.source ?? template.source ?? '';
    const expiry = message.expiry ?? template.expiry;
    let description = ACCEPTED;
    if (!MSISDN.test(message.destination)) description = INVALID_MSISDN;
    else if (text === '') description = 'Text value is missing';
    else if (measure.parts > MAX_PARTS) description = 'Invalid Text value. Reached max allowed limit';
    else if (isTooLong(source)) description = 'Invalid Source value. Reached max allowed limit';
    else if (expiry !== undefined && Date.parse(expiry) <= now) description = 'Expiry time already reached';
    return { message, description, text, measure };
  });
}

function isTooLong(source: string): boolean {
  return source.length > (/^\+?\d+$/.test(source) ? MAX_NUMERIC_SOURCE : MAX_ALPHANUMERIC_SOURCE);
}

/** A row that the service would accept is refused where a fault says so. */
function refuseByFaults(judged: readonly JudgedMessage[], { rowFaults }: AreaCall): void {
  for (const chosen of rowFaults) {
    const { kind, description } = chosen.fault;
    if (kind === 'strict-numbers') continue;
    const isChosen = chooseRows(
      chosen,
      judged.map(({ message }) => message.destination),
    );
    for (const [place, one] of judged.entries()) {
      if (!isChosen[place] || one.description !== ACCEPTED) continue;
      one.description = kind === 'reject-rows' ? description : 'Internal server error';
    }
  }
}

function toRow(
  { message, text, measure }: JudgedMessage,
  { template, clientBatchId }: BatchRequest,
  { batchId, subAccountId, umid }: { batchId: string; subAccountId: string; umid: string },
): SmsRow & Fields {
  // A spread in this literal costs 15 µs a message.
  return {
    subAccountId,
    batchId,
    clientBatchId: clientBatchId ?? null,
    umid,
    clientMessageId: message.clientMessageId ?? null,
    destination: message.destination,
    country: message.country ?? null,
    source: message.source ?? template.source ?? null,
    text,
    encoding: measure.encoding,
    parts: measure.parts,
    scheduled: message.scheduled ?? template.scheduled ?? null,
    expiry: message.expiry ?? template.expiry ?? null,
    dlrCallbackUrl: message.dlrCallbackUrl ?? template.dlrCallbackUrl ?? null,
  };
}

interface BatchAnswer {
  readonly batchId: string;
  readonly clientBatchId: string | null;
  readonly acceptedCount: number;
  readonly rejectedCount: number;
  readonly messages: readonly AnswerRow[] | null;
}

type AnswerRow = ReturnType<typeof toAnswerRows>[number];

/** Never in the order of the request: it is not promised, and a client that joins by position must fail. */
function toAnswerRows(judged: readonly JudgedMessage[], batchId: string, seed: number) {
  const rows = judged.map(({ message, measure, description }, place) => {
    const isAccepted = description === ACCEPTED;
    return {
      // Refused rows of a batch share one umid, as the documentation's samples repeat theirs.
      umid: umidOf(batchId, isAccepted ? place + 1 : 0),
      clientMessageId: message.clientMessageId ?? null,
      destination: isAccepted ? message.destination.replace('+', '') : message.destination,
      encoding: measure.encoding,
      status: { code: isAccepted ? 'QUEUED' : 'REJECTED', description },
    };
  });
  return shuffle(rows, createRandom(seed));
}

/** The batch's UUID with its first group counted up, as in the documentation's samples. */
function umidOf(batchId: string, offset: number): string {
  const first = (Number.parseInt(batchId.slice(0, 8), 16) + 1 + offset) >>> 0;
  return first.toString(16).padStart(8, '0') + batchId.slice(8);
}

/** Batch answers that are well formed and wrong. Those of rows leave an answer without `messages` as it is. */
const BATCH_DISTORTIONS: Route['distortions'] = {
  partial: (answer) => changeRows(answer, (rows, chosen) => rows.filter((_, place) => !chosen[place])),
  repeated: (answer) =>
    changeRows(answer, (rows, chosen) => rows.flatMap((row, place) => (chosen[place] ? [row, row] : [row]))),
  foreign: (answer) =>
    changeRows(
      answer,
      (rows) =>
        (answer.previousBody as BatchAnswer | undefined)?.messages ??
        rows.map((row, place) => ({ ...row, clientMessageId: `not-yours-${place}` })),
    ),
  'null-messages': ({ body }) => ({ ...(body as BatchAnswer), messages: null }),
  'wrong-count': ({ body }) => ({ ...(body as BatchAnswer), acceptedCount: (body as BatchAnswer).acceptedCount + 1 }),
};

function changeRows(
  { body, choose }: Distortable,
  change: (rows: readonly AnswerRow[], chosen: readonly boolean[]) => readonly AnswerRow[],
): BatchAnswer {
  const answer = body as BatchAnswer;
  if (answer.messages === null) return answer;
  return { ...answer, messages: change(answer.messages, choose(answer.messages.map((row) => row.destination))) };
}

function readDestinations(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return [];
  const { messages, destinations } = body as Partial<Record<string, unknown>>;
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
  if (Array.isArray(messages)) return messages.map((message) => textOf(message?.destination));
  return Array.isArray(destinations) ? destinations.map(textOf) : [];
}
