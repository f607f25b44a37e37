import { remember } from '../../domain/is-object.js';
import { ID_COLUMN, listKindsIn, PLACE_COLUMNS, REASON_COLUMNS, STATUS_COLUMN } from '../../domain/output-columns.js';
import type { InputFile } from '../../input/inputs.js';
import type { RecordReader } from '../../input/record-reader.js';
import type { RowStep } from '../../job/job.js';
import { atAnyTime, OF_A_TEST, type RowId, readRowId } from '../../kinds/ids.js';
import type { RowRefusal } from '../../kinds/step-kind.js';
import type { DigestedInput } from '../plan-deps.js';
import { ProblemList } from '../problems.js';
import { RowTable } from './named-rows.js';

/** Knows who owns the rows of a job's runs (registry/owner-lookup.ts). */
export interface RowOwners {
  /** By the content of a file that a plan read for a step of the kind: the digest of its rows. Rows of no other come back. */
  findDigest(kind: string, contentSha256: string): string | undefined;
  /** Looks a row up for a step that would send it. */
  find(step: { readonly kind: string; readonly number: number }, id: string): Promise<FoundRow>;
  /** Why a row that was found is not sent, by the first of its facts: other rows of its files have the same. */
  refuseTwin(step: number, id: string, key: string): RowRefusal | undefined;
}

export interface FoundRow {
  /** The digest of the rows of its file; undefined where no step of the same number read that file. */
  readonly digest: string | undefined;
  /** Why the step may not send it; undefined where it may. */
  readonly refusal: RowRefusal | undefined;
}

/**
 * Rows that a step reads from rejections files of runs: known by their ids, so that each is planned once and by one plan
 * alone, however often it is re-imported, and whatever was fixed in it.
 */
export function createReimportedRows(
  step: { kind: string; number: number },
  owners: RowOwners,
  describeRow: (ordinal: number) => string,
) {
  /** By `nameOf`, the rows of the step itself: planned, or left out by its `where`. */
  const taken = new RowTable();
  /** By `nameOf`: the last file of the step that has the row. */
  const lastIn = new RowTable();
  /** By the content of a file of the step: the digest of its rows. */
  const digests = new Map<string, string>();
  /** By the digest of the rows of a file: its ids, at any time, of which rows come back. */
  const cameBack = new Map<string, Set<string>>();
  let names: readonly string[] = [];
  /** By id: the rows of a block. */
  let inBlock = new Map<string, FoundRow>();
  const files = new Set<string>();

  function noteFound(index: number): void {
    for (const [ownId, { digest }] of inBlock) {
      const id = nameOf(ownId);
      if (id === undefined) continue;
      lastIn.set(id, index);
      if (digest !== undefined) remember(cameBack, digest, () => new Set<string>()).add(id.file);
    }
  }

  /** Looks up the rows of a block, by their ids. */
  async function prepare(ownIds: Iterable<string>): Promise<void> {
    inBlock = new Map();
    for (const ownId of ownIds) {
      const row = readRowId(ownId);
      if (row === undefined) continue;
      files.add(row.file);
      inBlock.set(ownId, await owners.find(step, ownId));
    }
  }

  return {
    /** Notes which rows of the step's files come back in others of them, before any is planned. `assertNotInterrupted` throws where planning is to end: it is asked at each block. */
    async readAhead(
      inputs: readonly DigestedInput[],
      open: (file: InputFile) => RecordReader,
      assertNotInterrupted: () => void,
    ): Promise<void> {
      for (const { contentSha256 } of inputs) {
        const digest = owners.findDigest(step.kind, contentSha256);
        if (digest !== undefined) digests.set(contentSha256, digest);
      }
      if (digests.size === 0) return;
      names = inputs.map(({ file }) => file.shown);
      for (const [index, { file }] of inputs.entries()) {
        const reader = open(file);
        // What is wrong with the file is said when it is planned.
        await new ProblemList().gather(file.shown, async () => {
          for await (const { rows } of reader.blocks()) {
            assertNotInterrupted();
            if (reader.ownColumns.length === 0) return;
            await prepare(rows.ownIds.values());
            noteFound(index);
          }
        });
      }
      files.clear();
    },
    /** Why a row of a file, which has no id, is not planned: it comes back in another file. */
    findComeBack(contentSha256: string, row: number): RowRefusal | undefined {
      for (const file of cameBack.get(digests.get(contentSha256) ?? '') ?? []) {
        const last = lastIn.get({ file, row });
        if (last !== undefined) return skip('read-again', `It came back in ${names[last]}, and counts there`);
      }
      return undefined;
    },
    /** Why a row that cannot be sent is not rejected: a later file has it again. */
    findLater(ownId: string, file: number): RowRefusal | undefined {
      const id = nameOf(ownId);
      const last = (id && lastIn.get(id)) ?? file;
      return last === file ? undefined : skip('read-again', 'The same row stands in a later file, and counts there');
    },
    prepare,
    /** Why a row is not planned; undefined where it may be. */
    check(ownId: string): RowRefusal | undefined {
      const found = inBlock.get(ownId);
      const id = nameOf(ownId);
      if (found === undefined || id === undefined) {
        return rejectUnknown(
          ownId.startsWith(`${OF_A_TEST}-`)
            ? 'it was sent as a test: the row itself stands in the input of the job'
            : 'its _rowId is not one that Volley wrote, expected it unchanged',
        );
      }
      const earlier = taken.get(id);
      return earlier === undefined
        ? found.refusal
        : skip('read-again', `The same row stands in ${describeRow(earlier)}, which is kept`);
    },
    noteTaken(ownId: string, ordinal: number): void {
      const id = nameOf(ownId);
      if (id !== undefined) taken.set(id, ordinal);
    },
    /** Ends a file: the ids of those whose rows it held. */
    takeFiles(): string[] {
      const sorted = [...files].sort();
      files.clear();
      return sorted;
    },
  };
}

export type ReimportedRows = ReturnType<typeof createReimportedRows>;

/** A name that a row keeps whenever its file was sent: it has one message in a plan. Undefined where `ownId` is not an id. */
function nameOf(ownId: string): RowId | undefined {
  const id = readRowId(ownId);
  return id && { file: atAnyTime(id.file), row: id.row };
}

export function rejectUnknown(why: string): RowRefusal {
  return reject(`The row cannot be matched to the one that was rejected: ${why}`);
}

export function rejectSent(why: string): RowRefusal {
  return reject(`The row would be sent twice: ${why}; restore the row's own _rowId`);
}

function reject(what: string): RowRefusal {
  const reason = `${what}; clear its cell _rowId only if the row is new`;
  return { kind: 'rejected', rejection: { stage: 'read', field: '_rowId', code: 'bad-id', reason } };
}

/** `retried`: another plan has it; `read-again`: this one has it once more. */
export function skip(code: 'retried' | 'read-again', reason: string): RowRefusal {
  return { kind: 'skipped', skip: { code, reason } };
}

const OF_SKIPPED: readonly string[] = [...PLACE_COLUMNS, ...REASON_COLUMNS];
const OUTSIDE = 'Rows in it that really are new are read once the columns that begin with _ are removed from the file.';

/**
 * Why an output of Volley is not input of a kind of step, by its columns: its rows were sent, or may have been, or belong to their
 * run. Undefined for rejections, and for results of another kind of step, which may be chained. Results without the columns that
 * say of which kind they are, are refused too.
 */
export function findRefusal(
  own: readonly string[],
  kind: RowStep['kind'],
): { message: string; hint: string } | undefined {
  const has = (name: string) => own.includes(name);
  if (has('_stage')) return has(ID_COLUMN) ? undefined : WITHOUT_IDS;
  const kinds = listKindsIn(own);
  if (has(STATUS_COLUMN)) {
    if (kinds.length === 0) return UNKNOWN_RESULTS;
    return kinds.includes(kind) ? RESULTS : undefined;
  }
  if (has('_state') && has('_umid')) return kinds.includes(kind) ? DELIVERIES : undefined;
  const isSkipped = own.every((name) => OF_SKIPPED.includes(name));
  return isSkipped ? SKIPPED : UNSETTLED;
}

const WITHOUT_IDS = {
  message: 'it is a rejections file without the column _rowId, which shows what was sent since, expected that column',
  hint: `Write the file again with \`volley report\` and its run directory, and correct that one. ${OUTSIDE}`,
};
const RESULTS = {
  message: 'it holds results of a step of the same kind: its rows were sent, expected rows that were not',
  hint: `Remove it from the input of the step. ${OUTSIDE}`,
};
const UNKNOWN_RESULTS = {
  message: 'it holds results without the columns that show the kind of step, expected all columns that begin with _',
  hint: `Write the file again with \`volley report\` and its run directory, and add your columns to that one. ${OUTSIDE}`,
};
const DELIVERIES = {
  message: 'it holds deliveries: its rows were sent, expected rows that were not',
  hint: `Remove it from the input of the step. ${OUTSIDE}`,
};
const SKIPPED = {
  message: 'it holds rows that a run skipped: duplicates, people who opted out, and rows that another plan claimed',
  hint: `Remove it from the input. ${OUTSIDE}`,
};
const UNSETTLED = {
  message: 'it holds rows in doubt, or unprocessed ones: they may have been sent, or their run will send them',
  hint: `Settle rows in doubt with \`volley settle\`; for the others finish the run, or use \`volley retry\`. ${OUTSIDE}`,
};
