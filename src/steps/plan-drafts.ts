import { TextBuffer } from '../text-buffer.js';
import type { DraftPlanner, PlannerContext, RowDraft, RowDrafter, RowPlan, RowPlanner } from './kind.js';

/** The planner of a kind whose rows are drafted: row by row where a row comes as a record, and for drafts as they are. */
export function planByDrafts(
  drafter: RowDrafter,
  drafts: DraftPlanner,
  { findColumn }: Pick<PlannerContext, 'findColumn'>,
): Pick<RowPlanner, 'bind' | 'drafts'> {
  const { before, behind } = drafts.indexed ?? { before: '', behind: '' };
  const written = new TextBuffer();
  const planRow = (draft: RowDraft, ordinal: number, index: number): RowPlan => {
    if (draft.e164 === undefined) return { kind: 'rejected', rejection: draft.rejection };
    const refusal = drafts.refuse(draft.e164, draft.rejection, ordinal);
    if (refusal !== undefined) return refusal;
    const { facts, segments, country, forcesUcs2 } = draft;
    const fragment = written.bytes.toString('utf8');
    const end = drafts.indexed === undefined ? '' : `${before}${index}${behind}`;
    const preview = () => drafts.preview(fragment);
    return {
      kind: 'planned',
      row: { fragment: `${fragment}${end}`, facts, messages: 1, segments, country, forcesUcs2, preview },
    };
  };
  return {
    drafts,
    bind: (columns) => {
      const draftRow = drafter.bind(columns, findColumn);
      if (typeof draftRow !== 'function') return draftRow;
      return (record, ordinal, index) => {
        written.clear();
        return planRow(draftRow(record.cells, written), ordinal, index);
      };
    },
  };
}
