import { ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import { ceilings } from '../../src/job/limits.js';
import { kindOf } from '../../src/kinds/kinds.js';
import { fillOne } from '../job/a-job-file.js';
import { COLUMNS, EXAMPLES, type KindExample, rowOf } from '../kinds/examples.js';

/** Requests that a job makes, and the first, a middle and the last of them. */
export const REQUESTS = 5;
export const POSITIONS = [1, 3, 5] as const;
export const MIDDLE = POSITIONS[1];

/** A kind of step, as far as faults concern it. */
export interface Kind {
  readonly name: RowKind;
  readonly rowsPerRequest: number;
  /** The service makes it safe to send the same request again. */
  readonly isRepeatable: boolean;
  /** What became of a request can be asked. */
  readonly isAsked: boolean;
  /** Column of the rows that the ledger knows them by. */
  readonly column: KindExample['column'];
  /** Column of the results with the id that the service gave. */
  readonly idColumn: string;
  readonly step: Readonly<Record<string, unknown>>;
}

export function aKind(name: RowKind): Kind {
  const { column, step, batchKey } = EXAMPLES[name];
  const rowsPerRequest = batchKey === undefined ? 1 : 4;
  const { requestsPerSecond, messagesPerSecond } = ceilings[ROW_KINDS[name].area];
  const limits = { requestsPerSecond, messagesPerSecond };
  const batch = batchKey === undefined ? {} : { [batchKey]: rowsPerRequest };
  const written = { kind: name, input: { files: 'people.csv' }, ...step(COLUMNS), limits, ...batch };
  const kind = kindOf({ kind: name });
  return {
    name,
    rowsPerRequest,
    isRepeatable: kind.isRepeatable(fillOne(name, written)),
    isAsked: kind.outcomeQuery !== undefined,
    column,
    idColumn: kind.resultColumns[0] ?? '',
    step: written,
  };
}

export function rowsOf({ rowsPerRequest }: Kind): ReturnType<typeof rowOf>[] {
  return Array.from({ length: REQUESTS * rowsPerRequest }, (_, index) => rowOf(index + 1));
}

export const KINDS: readonly Kind[] = (Object.keys(ROW_KINDS) as RowKind[]).map(aKind);

/** A row is a request, which may not be repeated: most kinds are so, and hardly differ before a faulty server. */
export function isPlain({ rowsPerRequest, isRepeatable }: Kind): boolean {
  return rowsPerRequest === 1 && !isRepeatable;
}
