import type { Rejection } from '../domain/row.js';
import type { InputRecord, RecordReader } from '../input/record-reader.js';
import type { Input } from '../job/job.js';
import type { InputReader } from '../plan/plan-deps.js';
import type { HeldRows } from './held-rows.js';

/**
 * Reads as another reader does, and has a fault for each row whose id is that of a row that its run must not give away. `kinds`: of the
 * steps, by their inputs.
 */
export function createHeldReader(
  reader: InputReader,
  { held, kinds }: { held: HeldRows; kinds: ReadonlyMap<Input, string> },
): InputReader {
  return {
    ...reader,
    readRecords: (file, input) => {
      const records = reader.readRecords(file, input);
      const kind = kinds.get(input);
      return kind === undefined ? records : checkRecords(records, { held, kind });
    },
  };
}

function checkRecords(records: RecordReader, by: { held: HeldRows; kind: string }): RecordReader {
  const readBatches = records.batches.bind(records);
  // All else of the reader stays as it is.
  records.batches = async function* () {
    for await (const batch of readBatches()) {
      const isOurs = records.ownColumns.length > 0;
      yield isOurs ? await checkBatch(batch, by) : batch;
    }
  };
  return records;
}

async function checkBatch(
  batch: readonly InputRecord[],
  { held, kind }: { held: HeldRows; kind: string },
): Promise<InputRecord[]> {
  const checked: InputRecord[] = [];
  for (const record of batch) {
    const { ownId, fault } = record;
    const found = ownId === undefined || fault !== undefined ? undefined : await held.findFault(kind, ownId);
    checked.push(found === undefined ? record : { ...record, fault: rejectId(found) });
  }
  return checked;
}

function rejectId(found: string): Rejection {
  const reason = `The row would be sent twice: ${found}; restore the row's own _rowId; clear that cell only if the row is new`;
  return { stage: 'read', field: '_rowId', code: 'bad-id', reason };
}
