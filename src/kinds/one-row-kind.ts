import type { TextBuffer } from '../domain/bytes/text-buffer.js';
import type { RowOutcomes, Verdict } from '../domain/row.js';
import type { RowStep } from '../job/job.js';
import type { Response } from '../service/answer.js';
import { inDoubt } from './outcomes.js';
import type { RequestPart, RowDraft, RowPlanner, StepKind } from './step-kind.js';

/** A kind with one row a request, whose fragment is the body. */
interface OneRowKind<S extends RowStep> extends Omit<StepKind<S>, 'createPlanner' | 'splitBody' | 'readOutcomes'> {
  readonly preview: RowPlanner['preview'];
  /** What an answer must have to be read: `a contact's id`. */
  readonly answersWith: string;
  /** Reads a 2xx answer to `body`; undefined where it does not have that, and the row is in doubt. */
  readAnswer(response: Response, body: Buffer, part: RequestPart): RowOutcomes | undefined;
}

export function oneRowKind<S extends RowStep>(kind: OneRowKind<S>): StepKind<S> {
  const { preview, answersWith, readAnswer, ...rest } = kind;
  return {
    ...rest,
    createPlanner: () => ({
      rowsPerRequest: 1,
      segmentsPerRequest: Number.POSITIVE_INFINITY,
      openBody: () => '',
      closeBody: '',
      preview,
    }),
    splitBody: (body) => body,
    readOutcomes: (response, part, body) =>
      readAnswer(response, body, part) ??
      oneRow(inDoubt('unreadable-answer', `HTTP ${response.status} without ${answersWith}`)),
  };
}

/** What became of the row, and the ids that the service gave it. */
export function oneRow(verdict: Verdict, ...ids: readonly string[]): RowOutcomes {
  return { verdicts: [verdict], rows: [[0, ...ids]], shared: [] };
}

/** E.164 as a body has it; undefined where it has none. */
export function readNumberOf(e164: string | undefined): number | undefined {
  return e164 === undefined ? undefined : Number(e164);
}

/** The draft of a row that is a request of its own, and no message. */
export function draftRequest(
  text: TextBuffer,
  body: object,
  { facts = [], number, country }: Pick<RowDraft, 'number' | 'country'> & { facts?: readonly string[] },
): RowDraft {
  text.append(JSON.stringify(body));
  const factsAt = text.length;
  text.append(facts.map((fact) => JSON.stringify(fact)).join());
  return { number, country, factsAt };
}
