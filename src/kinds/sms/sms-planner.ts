import type { SmsStep } from '../../job/job.js';
import { createNumberSet } from '../../normalize/number/number-set.js';
import { boundBatch } from '../batch-bounds.js';
import { clientBatchIdOf, messageIdPrefix } from '../ids.js';
import { planByDrafts } from '../plan-drafts.js';
import { type DraftPlanner, type PlannerContext, type RowPlanner, skipDuplicate } from '../step-kind.js';
import { createSmsDrafter } from './sms-drafter.js';
import { createTextDigest } from './sms-texts.js';

/**
 * Drafts → messages: suppression, a text that cannot be sent, who had it already, and last the duplicates, so that a row
 * which is not sent never takes the place of one that is.
 */
export function createSmsPlanner(step: SmsStep, context: PlannerContext): RowPlanner {
  const drafter = createSmsDrafter(step);
  const { sharedText } = drafter;
  const seen = createNumberSet();
  const bounds = boundBatch(step);
  const digestText = createTextDigest(step.template.source, sharedText);
  const drafts: DraftPlanner = {
    refuse: (number, rejection, { ordinal, fragment }) => {
      const skip = context.findSuppressed(number);
      if (skip !== undefined) return { kind: 'skipped', skip };
      if (rejection !== undefined) return { kind: 'rejected', rejection };
      const textOf = () => digestText(fragment());
      const had = context.had?.find(number, textOf);
      if (had !== undefined) return { kind: 'skipped', skip: had };
      const kept = step.duplicates === 'skip' ? seen.add(number, ordinal) : undefined;
      if (kept !== undefined) return skipDuplicate('number', kept, context);
      return undefined;
    },
    note: (number, { fragment }) => context.had?.note(number, () => digestText(fragment())),
    indexed: { before: `,"clientMessageId":"${messageIdPrefix(context.planId, context.step)}`, behind: '"}' },
    preview: (fragment) => {
      const { destination, text = sharedText } = JSON.parse(`${fragment}}`);
      return { to: destination, text };
    },
  };
  return {
    ...planByDrafts(drafter, drafts, context),
    rowsPerRequest: bounds.messages,
    segmentsPerRequest: bounds.segments,
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
