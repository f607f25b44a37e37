import type { Distortable } from '../area.js';
import type { Distortion } from '../faults/fault.js';

/** One row of a batch's answer. */
export interface AnswerRow {
  readonly umid: string;
  readonly clientMessageId: string | null;
  readonly destination: string;
  readonly encoding: string;
  readonly status: { readonly code: 'QUEUED' | 'REJECTED'; readonly description: string };
}

export interface BatchAnswer {
  readonly batchId: string;
  readonly clientBatchId: string | null;
  readonly acceptedCount: number;
  readonly rejectedCount: number;
  readonly messages: readonly AnswerRow[] | null;
}

/** Batch answers that are well formed and wrong. Those of rows leave an answer without `messages` as it is. */
export const BATCH_DISTORTIONS: Readonly<Record<Distortion, (answer: Distortable) => unknown>> = {
  partial: (answer) => changeRows(answer, (rows, chosen) => rows.filter((_, place) => !chosen[place])),
  repeated: (answer) =>
    changeRows(answer, (rows, chosen) => rows.flatMap((row, place) => (chosen[place] ? [row, row] : [row]))),
  foreign: (answer) => changeRows(answer, (rows) => previousRows(answer) ?? rows.map(makeForeign)),
  'null-messages': ({ body }) => ({ ...(body as BatchAnswer), messages: null }),
  'wrong-count': ({ body }) => ({ ...(body as BatchAnswer), acceptedCount: (body as BatchAnswer).acceptedCount + 1 }),
};

function changeRows(
  { body, choose }: Distortable,
  change: (rows: readonly AnswerRow[], chosen: readonly boolean[]) => readonly AnswerRow[],
): BatchAnswer {
  const answer = body as BatchAnswer;
  if (answer.messages === null) return answer;
  const chosen = choose(answer.messages.map((row) => row.destination));
  return { ...answer, messages: change(answer.messages, chosen) };
}

function previousRows({ previousBody }: Distortable): readonly AnswerRow[] | undefined {
  return (previousBody as BatchAnswer | undefined)?.messages ?? undefined;
}

function makeForeign(row: AnswerRow, place: number): AnswerRow {
  return { ...row, clientMessageId: `not-yours-${place}` };
}
