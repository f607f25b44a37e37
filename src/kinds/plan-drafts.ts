import { createRowEncoder } from '../domain/bytes/row-writer.js';
import { TextBuffer } from '../domain/bytes/text-buffer.js';
import type {
  DraftPlanner,
  DraftText,
  OmittedDraft,
  PlannerContext,
  RefusedDraft,
  RowDraft,
  RowDrafter,
  RowPlan,
  RowPlanner,
  RowRefusal,
} from './step-kind.js';

/** The planner of a kind whose rows are drafted: rows that come as records, one by one, and drafts as they are. */
export function planByDrafts(
  drafter: RowDrafter,
  drafts: DraftPlanner,
  { findColumn }: Pick<PlannerContext, 'findColumn'>,
): Pick<RowPlanner, 'bind' | 'drafts'> {
  const text: DraftText = { fragment: new TextBuffer(), facts: new TextBuffer() };
  const encode = createRowEncoder();
  const planRow = (draft: RowDraft, ordinal: number): RowPlan => {
    if (draft.number === undefined) return refuseDraft(draft);
    const row = { ordinal, fragment: () => text.fragment.bytes };
    const refusal = drafts.refuse(draft.number, draft.rejection, row);
    if (refusal !== undefined) return refusal;
    const { number, segments, country, extraParts, forcesUcs2, replaced } = draft;
    const fragment = text.fragment.bytes.toString('utf8');
    const facts = JSON.parse(`[${text.facts.bytes.toString('utf8')}]`);
    const preview = () => drafts.preview(fragment);
    return {
      kind: 'planned',
      row: {
        fragment,
        facts,
        messages: 1,
        segments,
        number,
        country,
        extraParts,
        forcesUcs2,
        replaced,
        preview,
        note: () => drafts.note?.(number, row),
      },
    };
  };
  return {
    drafts,
    bind: (columns) => {
      const draftRow = drafter.bind(columns, findColumn);
      if (typeof draftRow !== 'function') return draftRow;
      return (record, ordinal) => {
        text.fragment.clear();
        text.facts.clear();
        return planRow(draftRow(encode(record), text), ordinal);
      };
    },
  };
}

function refuseDraft(draft: RefusedDraft | OmittedDraft): RowRefusal {
  if (draft.rejection !== undefined) return { kind: 'rejected', rejection: draft.rejection };
  return { kind: 'skipped', skip: { code: 'filtered', reason: draft.omitted } };
}
