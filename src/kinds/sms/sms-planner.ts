import type { SmsStep } from '../../job/job.js';
import { clientBatchIdOf, messageIdPrefix } from '../ids.js';
import type { DraftedRow, RowPlanner } from '../step-kind.js';
import { findSharedText } from './sms-drafter.js';
import { createTextDigest } from './sms-texts.js';

/** Drafts → messages. */
export function createSmsPlanner(step: SmsStep, planId: string, number: number): RowPlanner {
  const sharedText = findSharedText(step);
  const bounds = boundBatch(step);
  const digest = createTextDigest(step.template.source);
  const shared = sharedText === undefined ? undefined : digest(sharedText);
  const readMessage = ({ fragment }: DraftedRow) => JSON.parse(`${fragment}}`);
  const { timeZone } = step.window ?? {};
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
      const shared = JSON.stringify(sharedProperties(step, sharedText));
      return `{"clientBatchId":"${clientBatchId}","includeMessagesInResponse":true,"template":${shared},"messages":[`;
    },
    closeBody: ']}',
  };
}

/** What the messages of a batch share. Contract: "Template object". */
function sharedProperties(step: SmsStep, text: string | undefined): Record<string, string> {
  const { dlrCallbackUrl, template } = step;
  const { source, encoding, scheduled, expiry } = template;
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
