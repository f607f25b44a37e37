import type { SmsStep } from '../../job/job.js';
import { NumberSet } from '../../normalize/number/number-set.js';
import { clientBatchIdOf, messageIdPrefix } from '../ids.js';
import { type DraftedRow, type PlannerContext, type RowPlanner, skipDuplicate } from '../step-kind.js';
import { findSharedText } from './sms-drafter.js';
import { createTextDigest } from './sms-texts.js';

/**
 * Drafts → messages: suppression, a text that cannot be sent, who had it already, and last the duplicates, so that a row
 * which is not sent never takes the place of one that is.
 */
export function createSmsPlanner(step: SmsStep, context: PlannerContext): RowPlanner {
  const sharedText = findSharedText(step);
  const seen = new NumberSet();
  const bounds = boundBatch(step);
  const digest = createTextDigest(step.template.source);
  const shared = sharedText === undefined ? undefined : digest(sharedText);
  const readMessage = ({ fragment }: DraftedRow) => JSON.parse(`${fragment}}`);
  const digestText = (row: DraftedRow) => shared ?? digest(readMessage(row).text);
  return {
    rowsPerRequest: bounds.messages,
    segmentsPerRequest: bounds.segments,
    messagesPerRow: 1,
    refuse: (row) => {
      const { number, refusal, ordinal } = row;
      if (number === undefined) return refusal;
      const skip = context.findSuppressed(number);
      if (skip !== undefined) return { kind: 'skipped', skip };
      if (refusal !== undefined) return refusal;
      const had = context.had?.find(number, () => digestText(row));
      if (had !== undefined) return { kind: 'skipped', skip: had };
      const kept = step.duplicates === 'skip' ? seen.add(number, ordinal) : undefined;
      return kept === undefined ? undefined : skipDuplicate('number', kept, context);
    },
    note: (row) => {
      if (row.number !== undefined) context.had?.note(row.number, () => digestText(row));
    },
    indexed: { before: `,"clientMessageId":"${messageIdPrefix(context.planId, context.step)}`, behind: '"}' },
    preview: (row) => {
      const { destination, text = sharedText } = readMessage(row);
      return { to: destination, text };
    },
    openBody: (request) => {
      const clientBatchId = clientBatchIdOf({ planId: context.planId, step: context.step, request, part: '' });
      const shared = JSON.stringify(sharedProperties(step, sharedText));
      return `{"clientBatchId":"${clientBatchId}","includeMessagesInResponse":true,"template":${shared},"messages":[`;
    },
    closeBody: ']}',
  };
}

/** What the messages of a batch share. Contract: "Template object". */
function sharedProperties(step: SmsStep, text: string | undefined): Record<string, string> {
  const { source, encoding, scheduled, expiry, dlrCallbackUrl } = step.template;
  const properties = { source, text, encoding, scheduled: scheduled?.at, expiry: expiry?.at, dlrCallbackUrl };
  return Object.fromEntries(
    Object.entries(properties).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

/** The most that one request of a step holds. */
export interface BatchBounds {
  readonly messages: number;
  readonly segments: number;
}

/**
 * The batch size of the job, or less: a request is sent whole, so one larger than the limits of a second would exceed
 * them however long the lane waits.
 */
export function boundBatch({ batchSize, limits }: Pick<SmsStep, 'batchSize' | 'limits'>): BatchBounds {
  const { messagesPerSecond = Infinity, segmentsPerSecond = Infinity } = limits;
  return {
    messages: Math.max(1, Math.floor(Math.min(batchSize, messagesPerSecond))),
    segments: Math.max(1, Math.floor(segmentsPerSecond)),
  };
}
