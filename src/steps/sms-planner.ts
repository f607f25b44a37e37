import type { Rejection, Skip } from '../domain.js';
import type { SmsStep } from '../job/job.js';
import { createNumberSet } from '../plan/dedupe.js';
import { boundBatch } from './batch-bounds.js';
import { clientBatchIdOf, messageIdPrefix } from './ids.js';
import {
  type MessageDraft,
  type PlannedRow,
  type PlannerContext,
  type RowDraft,
  type RowPlan,
  type RowPlanner,
  skipDuplicate,
} from './kind.js';
import { createSmsDrafter } from './sms-drafter.js';

const SUPPRESSED: Skip = { code: 'suppressed', reason: 'The number is on a suppression list of the job' };

/**
 * Drafts → messages: suppression, a text that cannot be sent, and last the duplicates, so that a row which cannot be sent
 * never takes the place of one that can.
 */
export function createSmsPlanner(step: SmsStep, context: PlannerContext): RowPlanner {
  const drafter = createSmsDrafter(step);
  const { sharedText } = drafter;
  const seen = createNumberSet();
  const idPrefix = messageIdPrefix(context.planId, context.step);
  const bounds = boundBatch(step);

  const planRow = (draft: RowDraft, ordinal: number, index: number): RowPlan => {
    if (draft.e164 === undefined) return reject(draft.rejection);
    if (context.isSuppressed(draft.e164)) return { kind: 'skipped', skip: SUPPRESSED };
    if (draft.rejection !== undefined) return reject(draft.rejection);
    if (step.duplicates === 'skip') {
      const kept = seen.add(draft.e164, ordinal);
      if (kept !== undefined) return skipDuplicate('number', kept, context);
    }
    return { kind: 'planned', row: planMessage(draft, `${idPrefix}${index}`) };
  };

  const planMessage = (draft: MessageDraft, clientMessageId: string): PlannedRow => {
    const { e164, country, segments, forcesUcs2 } = draft;
    const own = sharedText === undefined ? `,"text":${JSON.stringify(draft.text)}` : '';
    return {
      fragment: `{"destination":"${e164}","clientMessageId":"${clientMessageId}"${own}}`,
      facts: [e164, String(segments)],
      messages: 1,
      segments,
      country,
      forcesUcs2,
      preview: () => ({ to: e164, text: sharedText ?? draft.text }),
    };
  };

  return {
    rowsPerRequest: bounds.messages,
    segmentsPerRequest: bounds.segments,
    bind: (columns) => {
      const draftRow = drafter.bind(columns, context.findColumn);
      if (typeof draftRow !== 'function') return draftRow;
      return (record, ordinal, index) => planRow(record.draft ?? draftRow(record.cells), ordinal, index);
    },
    openBody: (request) => {
      const clientBatchId = clientBatchIdOf({ planId: context.planId, step: context.step, request, part: '' });
      const shared = JSON.stringify(sharedProperties(step, sharedText));
      return `{"clientBatchId":"${clientBatchId}","includeMessagesInResponse":true,"template":${shared},"messages":[`;
    },
    closeBody: ']}',
  };
}

/** What the messages of a batch share. Contract: "Template object"; facts: SMS batch. */
function sharedProperties(step: SmsStep, text: string | undefined): Record<string, string> {
  const { source, encoding, scheduled, expiry, dlrCallbackUrl } = step.template;
  const properties = { source, text, encoding, scheduled, expiry, dlrCallbackUrl };
  return Object.fromEntries(
    Object.entries(properties).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

function reject(rejection: Rejection): RowPlan {
  return { kind: 'rejected', rejection };
}
