import type { Rejection } from '../domain.js';
import type { SmsStep } from '../job/job.js';
import { type NumberColumn, normalizeCell } from '../normalize/number.js';
import { createNumberSet } from '../plan/dedupe.js';
import type { BoundTemplate } from '../template/bind.js';
import { checkText, type TextCheck } from '../template/check-text.js';
import { parseTemplate, type Template } from '../template/parse.js';
import { boundBatch } from './batch-bounds.js';
import { findDestination } from './column-search.js';
import { clientBatchIdOf, messageIdPrefix } from './ids.js';
import {
  type BindProblems,
  type PlannerContext,
  type RowPlan,
  type RowPlanner,
  type RowReader,
  type RowRecord,
  skipDuplicate,
} from './kind.js';

/** The columns that an SMS row is made of, found in one file. */
interface SmsColumns {
  readonly number: NumberColumn;
  readonly text: BoundTemplate;
}

/**
 * Rows → messages: number, suppression, text, length, and last the duplicates, so that a row which cannot be sent never
 * takes the place of one that can.
 */
export function createSmsPlanner(step: SmsStep, context: PlannerContext): RowPlanner {
  const template = parseTemplate(step.template.text);
  const seen = createNumberSet();
  const idPrefix = messageIdPrefix(context.planId, context.step);
  const encoding = step.template.encoding;
  const bounds = boundBatch(step);
  const constant = template.isConstant ? renderConstant(template, step) : undefined;

  const readRow = (columns: SmsColumns, record: RowRecord, ordinal: number, index: number): RowPlan => {
    const { cells } = record;
    const number = record.number ?? normalizeCell(cells, columns.number);
    if (!number.ok)
      return reject({ stage: 'normalize', field: step.destination, code: number.code, reason: number.reason });
    if (context.isSuppressed(number.e164)) {
      return {
        kind: 'skipped',
        skip: { code: 'suppressed', reason: 'The number is on a suppression list of the job' },
      };
    }
    const rendering = columns.text.render(cells);
    if (!rendering.ok) {
      return reject({ stage: 'render', field: rendering.variable, code: rendering.code, reason: rendering.reason });
    }
    const check = constant?.check ?? checkText(rendering.text, encoding);
    if (!check.ok) return reject(check.rejection);
    if (step.duplicates === 'skip') {
      const kept = seen.add(number.e164, ordinal);
      if (kept !== undefined) return skipDuplicate('number', kept, context);
    }
    const own = constant === undefined ? `,"text":${JSON.stringify(rendering.text)}` : '';
    const { segments, firstUcs2Character } = check.count;
    return {
      kind: 'planned',
      row: {
        fragment: `{"destination":"${number.e164}","clientMessageId":"${idPrefix}${index}"${own}}`,
        facts: [number.e164, String(segments)],
        messages: 1,
        segments,
        country: number.country,
        forcesUcs2: firstUcs2Character,
        preview: { to: number.e164, text: rendering.text },
      },
    };
  };

  return {
    rowsPerRequest: bounds.messages,
    segmentsPerRequest: bounds.segments,
    bind: (columns) => bindColumns(step, template, columns, { context, readRow }),
    numberIn: (columns) => findDestination(step, columns, context).number,
    openBody: (request) => {
      const clientBatchId = clientBatchIdOf({ planId: context.planId, step: context.step, request, part: '' });
      const shared = JSON.stringify(sharedProperties(step, constant?.text));
      return `{"clientBatchId":"${clientBatchId}","includeMessagesInResponse":true,"template":${shared},"messages":[`;
    },
    closeBody: ']}',
  };
}

function bindColumns(
  step: SmsStep,
  template: Template,
  columns: readonly string[],
  {
    context,
    readRow,
  }: {
    context: PlannerContext;
    readRow: (columns: SmsColumns, record: RowRecord, ordinal: number, index: number) => RowPlan;
  },
): RowReader | BindProblems {
  const { number, problems } = findDestination(step, columns, context);
  const text = template.bind(columns, context.findColumn);
  if ('problems' in text) return { problems: [...problems, ...text.problems] };
  if (number === undefined) return { problems };
  const bound = { number, text };
  return (record, ordinal, index) => readRow(bound, record, ordinal, index);
}

/** A text without variables is rendered, checked and counted once. */
function renderConstant(template: Template, step: SmsStep): { text: string; check: TextCheck } {
  const bound = template.bind([], () => undefined);
  const rendering = 'problems' in bound ? undefined : bound.render([]);
  const text = rendering?.ok === true ? rendering.text : '';
  return { text, check: checkText(text, step.template.encoding) };
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
