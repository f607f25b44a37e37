import { isObject, remember } from '../../domain/is-object.js';
import type { Clock } from '../../ports/clock.js';
import type { RateLimits } from '../admission.js';
import { defineRoute, isMsisdn, isTooLongSource, type SandboxArea } from '../area.js';
import { chooseRows, type RowFault } from '../fault.js';
import { ERROR_CODE, INVALID_MSISDN } from '../http-answer.js';
import { createRandom, shuffle } from '../random.js';
import {
  BATCH_CODES,
  type BatchRequest,
  type MessageRequest,
  type SmsEntry,
  type SmsRow,
  type TextMeasure,
  toRow,
  writtenBatch,
} from './batch-schema.js';
import { inboundRoute, sendReceipts } from './sms-webhooks.js';

interface KnownBatch {
  readonly subAccountId: string;
  /** How many messages wait for which time, in ms since 1970. */
  readonly scheduled: Map<number, number>;
  /** ISO 8601. */
  cancelledAt?: string;
}

/** A note that a batch is cancelled: its messages as far as they are not due. */
interface Cancellation {
  readonly cancelled: string;
}

const MESSAGES = '/api/v1/subaccounts/:subAccountId/messages';
const BATCHES = `${MESSAGES}/batch`;

/** SMS batch: a batch is accepted message by message, and can be cancelled until its time. */
export function createSmsArea(clock: Clock, newId: () => string, limits: RateLimits): SandboxArea {
  const batches = new Map<string, KnownBatch>();
  const cancelledAt = (batchId: string) => batches.get(batchId)?.cancelledAt;
  const isCancelled = (batchId: string) => cancelledAt(batchId) !== undefined;

  return {
    name: 'sms',
    rates: [
      { perSecond: limits.perAddress, of: (ip) => ip },
      { perSecond: limits.perSubAccount, of: (_, { subAccountId = '' }) => subAccountId },
    ],
    routes: [
      defineRoute(`POST ${BATCHES}`, 'subAccountId', {
        schema: writtenBatch,
        codes: BATCH_CODES,
        recipients: readDestinations,
        isBatch: true,
        handle: ({ body: batch, at, number, params: { subAccountId = '' }, rowFaults }) => {
          const times = [batch.template, ...batch.messages].flatMap((each) => each?.scheduled ?? []);
          if (times.some((time) => Date.parse(time) > at + MAX_SCHEDULE_MS)) {
            return { status: 400, code: ERROR_CODE.scheduled, message: 'Invalid schedule time' };
          }
          const isStrict = rowFaults.some(({ fault }) => fault.kind === 'strict-numbers');
          if (isStrict && batch.messages.some(({ destination }) => !isMsisdn(destination))) {
            return { status: 400, code: ERROR_CODE.invalidMsisdn, message: INVALID_MSISDN };
          }
          const judged = judgeMessages(batch, at, rowFaults);
          const batchId = newId();
          const umidOf = createUmids(batchId);
          const rows = judged.map((one, place) =>
            one.refusal === undefined
              ? toRow(one, batch, { subAccountId, batchId, umid: umidOf(place + 1) })
              : undefined,
          );
          const entries = rows.filter((row) => row !== undefined);
          const answer = () => {
            // Refused rows of a batch share one umid, as the documentation's samples repeat theirs.
            const umid = umidOf(0);
            const answers = judged.map((one, place) => toAnswerRow(one, rows[place]?.umid ?? umid));
            // Never in the order of the request: it is not promised, and a client that joins by position must fail.
            return shuffle(answers, createRandom(number));
          };
          const body = {
            batchId,
            clientBatchId: batch.clientBatchId ?? null,
            acceptedCount: entries.length,
            rejectedCount: judged.length - entries.length,
            messages: batch.includeMessagesInResponse === true ? answer() : null,
          };
          return {
            status: 200,
            body,
            entries,
            posts: (webhooks) => sendReceipts(webhooks, entries, clock, isCancelled),
          };
        },
      }),
      defineRoute(`DELETE ${BATCHES}/:batchId`, 'subAccountId', {
        handle: ({ at, params: { subAccountId, batchId = '' } }) => {
          const batch = batches.get(batchId);
          if (batch === undefined || batch.subAccountId !== subAccountId) {
            return { status: 404, message: 'Batch not found' };
          }
          let cancelledCount = 0;
          if (!isCancelled(batchId)) {
            for (const [time, count] of batch.scheduled) if (time > at) cancelledCount += count;
          }
          const note: Cancellation = { cancelled: batchId };
          return { status: 200, body: { cancelledCount }, ...(cancelledCount > 0 && { note }) };
        },
      }),
      defineRoute(`GET ${MESSAGES}/:umid`, 'subAccountId', {
        // Details of a message are in the ledger alone.
        handle: () => ({ status: 404, message: 'Message not found' }),
      }),
      inboundRoute(newId),
    ],
    apply: (entry: SmsRow | Cancellation, at) => {
      if ('cancelled' in entry) {
        const batch = batches.get(entry.cancelled);
        if (batch !== undefined) batch.cancelledAt = at;
        return;
      }
      const { batchId, subAccountId, scheduled } = entry;
      const batch = remember(batches, batchId, () => ({ subAccountId, scheduled: new Map() }));
      if (scheduled === null) return;
      const time = Date.parse(scheduled);
      batch.scheduled.set(time, (batch.scheduled.get(time) ?? 0) + 1);
    },
    show: (entry: Omit<SmsEntry, 'cancelledAt'>) => {
      const { batchId, scheduled } = entry;
      const time = cancelledAt(batchId);
      const wasUnsent = scheduled !== null && time !== undefined && Date.parse(scheduled) > Date.parse(time);
      return Object.assign(entry, { cancelledAt: wasUnsent ? time : null });
    },
    clear: () => batches.clear(),
  };
}

interface JudgedMessage extends TextMeasure {
  readonly message: MessageRequest;
  /** Why it is REJECTED; undefined where it is accepted. */
  refusal: string | undefined;
  /** The text in force: the message's own, else the template's. */
  readonly text: string;
}

/** Limits of the service's documentation. */
const MAX_PARTS = 10;
const MAX_SCHEDULE_MS = 7 * 86_400_000;

/** Judges the messages of a batch; measures a text once that messages in a row share. `now` in ms since 1970. */
function judgeMessages({ messages, template = {} }: BatchRequest, now: number, rowFaults: readonly RowFault[]) {
  let lastText: string | undefined;
  let lastEncoding: string | undefined;
  let measure: TextMeasure = { encoding: 'GSM7', parts: 1 };
  const judged = messages.map((message): JudgedMessage => {
    const text = message.text ?? template.text ?? '';
    const encoding = message.encoding ?? template.encoding ?? 'AUTO';
    if (text !== lastText || encoding !== lastEncoding) measure = measureText(text, encoding);
    lastText = text;
    lastEncoding = encoding;
    const expiry = message.expiry ?? template.expiry;
    let refusal: string | undefined;
    if (!isMsisdn(message.destination)) refusal = INVALID_MSISDN;
    else if (text === '') refusal = 'Text value is missing';
    else if (measure.parts > MAX_PARTS) refusal = 'Invalid Text value. Reached max allowed limit';
    else if (isTooLongSource(message.source ?? template.source ?? '')) {
      refusal = 'Invalid Source value. Reached max allowed limit';
    } else if (expiry !== undefined && Date.parse(expiry) <= now) refusal = 'Expiry time already reached';
    return { message, refusal, text, encoding: measure.encoding, parts: measure.parts };
  });
  // A row that the service would accept is refused where a fault says so.
  for (const chosen of rowFaults) {
    if (chosen.fault.kind === 'strict-numbers') continue;
    const destinations = messages.map(({ destination }) => destination);
    for (const [place, isChosen] of chooseRows(chosen, destinations).entries()) {
      const one = judged[place];
      if (!isChosen || one?.refusal !== undefined) continue;
      (one as JudgedMessage).refusal = chosen.fault.description;
    }
  }
  return judged;
}

function toAnswerRow({ message: { clientMessageId, destination }, encoding, refusal }: JudgedMessage, umid: string) {
  return {
    umid,
    clientMessageId: clientMessageId ?? null,
    destination: refusal === undefined ? destination.replace('+', '') : destination,
    encoding,
    status:
      refusal === undefined
        ? { code: 'QUEUED', description: 'SMS is accepted and queued for processing' }
        : { code: 'REJECTED', description: refusal },
  };
}

/** The batch's UUID with its first group counted up, as in the documentation's samples. */
function createUmids(batchId: string): (offset: number) => string {
  const first = Number.parseInt(batchId.slice(0, 8), 16) + 1;
  const rest = batchId.slice(8);
  return (offset) => ((first + offset) >>> 0).toString(16).padStart(8, '0') + rest;
}

function readDestinations(body: unknown): readonly string[] {
  const { messages, destinations } = isObject(body) ? body : {};
  const rows = Array.isArray(messages) ? messages.map((message) => message?.destination) : destinations;
  return Array.isArray(rows) ? rows.map((value) => (typeof value === 'string' ? value : '')) : [];
}

/** GSM 03.38: the basic table, and the extension table, whose characters take two septets. */
const GSM_BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const GSM_EXTENSION = '\f^{}\\[~]|€';

/** By UTF-16 unit; 0 for what GSM-7 does not have. */
const SEPTETS = new Uint8Array(0x1_00_00);
for (const character of GSM_BASIC) SEPTETS[character.charCodeAt(0)] = 1;
for (const character of GSM_EXTENSION) SEPTETS[character.charCodeAt(0)] = 2;

/** Measures by UTF-16 units. GSM7 asked for by name holds: a character outside its tables counts as one septet. */
export function measureText(text: string, asked: 'AUTO' | 'GSM7' | 'UCS2'): TextMeasure {
  const gsmParts = asked === 'UCS2' ? undefined : countGsmParts(text, asked === 'GSM7');
  return gsmParts === undefined
    ? { encoding: 'UCS2', parts: countUcs2Parts(text) }
    : { encoding: 'GSM7', parts: gsmParts };
}

/** Counts parts in GSM-7; undefined for a text with a character that GSM-7 does not have, unless any is taken. */
function countGsmParts(text: string, takesAny: boolean): number | undefined {
  let total = 0;
  let parts = 1;
  let used = 0;
  for (let place = 0; place < text.length; place++) {
    const known = SEPTETS[text.charCodeAt(place)];
    if (known === 0 && !takesAny) return undefined;
    const septets = known || 1;
    total += septets;
    // An escape and its character stand in one part.
    if (used + septets > 153) {
      parts += 1;
      used = 0;
    }
    used += septets;
  }
  return total <= 160 ? 1 : parts;
}

function countUcs2Parts(text: string): number {
  if (text.length <= 70) return 1;
  let parts = 1;
  let used = 0;
  for (const character of text) {
    // A surrogate pair stands in one part.
    if (used + character.length > 67) {
      parts += 1;
      used = 0;
    }
    used += character.length;
  }
  return parts;
}
