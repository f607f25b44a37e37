import type { AreaCall, AreaDeps, SandboxArea } from '../area.js';
import { chooseRows } from '../faults/chosen.js';
import { answerError, answerJson, ERROR_CODE, type HttpAnswer, isRefusal } from '../http-answer.js';
import type { SmsEntry } from '../ledger/page.js';
import { createRandom, shuffle } from '../random.js';
import { createRateCounter } from '../rate-limit.js';
import { type BatchRequest, readBatchRequest } from './batch-request.js';
import { type AnswerRow, BATCH_DISTORTIONS, type BatchAnswer } from './distort-batch.js';
import { ACCEPTED, INTERNAL_ERROR, INVALID_MSISDN, isMsisdn, type JudgedMessage, judgeMessages } from './message.js';
import { createReceipts } from './receipts.js';

interface KnownBatch {
  readonly subAccountId: string;
  /** How many messages wait for which time, in ms since 1970. */
  readonly scheduled: Map<number, number>;
}

const MESSAGES = '/api/v1/subaccounts/:subAccountId/messages';
const BATCHES = `${MESSAGES}/batch`;

/** SMS batch: a batch is accepted message by message, and can be cancelled until its time. */
export function createSmsArea(deps: AreaDeps): SandboxArea {
  const { clock, keyring, ledger, newId, rateLimits } = deps;
  const batches = new Map<string, KnownBatch>();
  const receipts = createReceipts(deps);
  const perSubAccount = createRateCounter(rateLimits.perSubAccount);
  const perAddress = createRateCounter(rateLimits.perAddress);

  const authorize = ({ headers, params: { subAccountId = '' }, ip }: AreaCall) => {
    const refused = keyring.refuseSubAccount(headers.authorization, subAccountId, clock.now());
    if (refused !== undefined) return refused;
    const atMs = clock.monotonicMs();
    const isWithin = perAddress.take(ip, atMs) && perSubAccount.take(subAccountId, atMs);
    return isWithin ? undefined : answerError(429, QUOTA_EXCEEDED, clock.now(), { 'retry-after': '1' });
  };

  const remember = ({ batchId, subAccountId, scheduled }: SmsEntry) => {
    const batch = batches.get(batchId) ?? { subAccountId, scheduled: new Map<number, number>() };
    batches.set(batchId, batch);
    if (scheduled === null) return;
    const time = Date.parse(scheduled);
    batch.scheduled.set(time, (batch.scheduled.get(time) ?? 0) + 1);
  };

  const sendBatch = async (call: AreaCall): Promise<HttpAnswer> => {
    const now = clock.now();
    const batch = readBatchRequest(call.body, now);
    if (isRefusal(batch)) return answerError(400, batch, now);
    const judged = judgeMessages(batch.messages, batch.template, now);
    const isStrict = call.rowFaults.some(({ fault }) => fault.kind === 'strict-numbers');
    if (isStrict && judged.some(({ message }) => !isMsisdn(message.destination))) {
      return answerError(400, { code: ERROR_CODE.invalidMsisdn, message: INVALID_MSISDN }, now);
    }
    const descriptions = describeWithFaults(judged, call);
    const batchId = newId();
    const { subAccountId = '' } = call.params;
    const accepted = judged.flatMap((one, place) =>
      descriptions[place] === ACCEPTED
        ? [toLedgerRow(one, batch, { batchId, subAccountId, umid: umidOf(batchId, place + 1) })]
        : [],
    );
    const answer = () => {
      receipts.send(accepted);
      return answerJson(200, {
        batchId,
        clientBatchId: batch.clientBatchId,
        acceptedCount: accepted.length,
        rejectedCount: judged.length - accepted.length,
        messages: batch.includeMessages ? toAnswerRows(judged, descriptions, { batchId, call }) : null,
      } satisfies BatchAnswer);
    };
    return ledger.accept({ at: now, area: 'sms', request: call.number }, () => ({ rows: accepted, answer }));
  };

  const cancelBatch = async (call: AreaCall): Promise<HttpAnswer> => {
    const now = clock.now();
    const { subAccountId, batchId = '' } = call.params;
    return ledger.accept({ at: now, area: 'sms', request: call.number }, () => {
      const batch = batches.get(batchId);
      if (batch === undefined || batch.subAccountId !== subAccountId) {
        return { answer: () => answerError(404, BATCH_NOT_FOUND, now) };
      }
      let cancelledCount = 0;
      if (!ledger.isCancelled(batchId)) {
        for (const [time, count] of batch.scheduled) if (time > now) cancelledCount += count;
      }
      const answer = () => answerJson(200, { cancelledCount });
      return cancelledCount === 0 ? { answer } : { cancels: batchId, answer };
    });
  };

  return {
    name: 'sms',
    routes: [
      {
        method: 'POST',
        path: BATCHES,
        takesBody: true,
        authorize,
        recipients: readDestinations,
        handle: sendBatch,
        distortions: BATCH_DISTORTIONS,
      },
      {
        method: 'DELETE',
        path: `${BATCHES}/:batchId`,
        takesBody: false,
        authorize,
        recipients: () => [],
        handle: cancelBatch,
        distortions: {},
      },
      {
        method: 'GET',
        path: `${MESSAGES}/:umid`,
        takesBody: false,
        authorize,
        recipients: () => [],
        // Details of a message are in the ledger alone.
        handle: async () => answerError(404, MESSAGE_NOT_FOUND, clock.now()),
        distortions: {},
      },
    ],
    apply: (rows) => {
      for (const row of rows as unknown as readonly SmsEntry[]) remember(row);
    },
    resume: (rows) => {
      // Others had their receipts, or lost them with the process.
      const isAhead = ({ scheduled }: SmsEntry) => scheduled !== null && Date.parse(scheduled) > clock.now();
      receipts.send((rows as unknown as readonly SmsEntry[]).filter(isAhead));
    },
    clear: () => batches.clear(),
  };
}

const BATCH_NOT_FOUND = { code: ERROR_CODE.notFound, message: 'Batch not found' };

const MESSAGE_NOT_FOUND = { code: ERROR_CODE.notFound, message: 'Message not found' };

const QUOTA_EXCEEDED = {
  code: ERROR_CODE.quotaExceeded,
  message: 'Quota exceeded. Please try again in 1 second(s).',
};

function readDestinations(body: unknown): readonly string[] {
  if (typeof body !== 'object' || body === null) return [];
  const { messages, destinations } = body as Partial<Record<string, unknown>>;
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
  if (Array.isArray(messages)) return messages.map((message) => textOf(message?.destination));
  return Array.isArray(destinations) ? destinations.map(textOf) : [];
}

/** A row that the service would accept is refused where a fault says so. */
function describeWithFaults(judged: readonly JudgedMessage[], call: AreaCall): string[] {
  const descriptions = judged.map(({ description }) => description);
  const destinations = judged.map(({ message }) => message.destination);
  for (const chosen of call.rowFaults) {
    const { kind, description } = chosen.fault;
    if (kind !== 'reject-rows' && kind !== 'internal-rows') continue;
    const because = kind === 'reject-rows' ? description : INTERNAL_ERROR;
    for (const [place, isChosen] of chooseRows(chosen, destinations).entries()) {
      if (isChosen && descriptions[place] === ACCEPTED) descriptions[place] = because;
    }
  }
  return descriptions;
}

function toLedgerRow(
  { message, text, measure }: JudgedMessage,
  { template, clientBatchId }: BatchRequest,
  { batchId, subAccountId, umid }: { batchId: string; subAccountId: string; umid: string },
) {
  // A spread in this literal costs 15 µs a message.
  return {
    subAccountId,
    batchId,
    clientBatchId,
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

/** Never in the order of the request: it is not promised, and a client that joins by position must fail. */
function toAnswerRows(
  judged: readonly JudgedMessage[],
  descriptions: readonly string[],
  { batchId, call }: { batchId: string; call: AreaCall },
): AnswerRow[] {
  const rows = judged.map(({ message, measure }, place): AnswerRow => {
    const description = descriptions[place] ?? INTERNAL_ERROR;
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
  return shuffle(rows, createRandom(call.number));
}

/** The batch's UUID with its first group counted up, as in the documentation's samples. */
function umidOf(batchId: string, offset: number): string {
  const first = (Number.parseInt(batchId.slice(0, 8), 16) + 1 + offset) >>> 0;
  return first.toString(16).padStart(8, '0') + batchId.slice(8);
}
