import type { DraftBlock, Names } from '../input/fast/draft-block.js';
import type { DraftedBlock } from '../input/record-reader.js';
import type { DraftPlanner, RefusableRow, RowRefusal } from '../kinds/step-kind.js';
import type { CostTally } from '../prices/cost-tally.js';
import { DraftedRow } from './format/drafted-row.js';
import type { RowPlace } from './format/row-line.js';
import type { StepWriter } from './format/step-writer.js';
import type { ExampleRow } from './reasons.js';
import type { RowOrdinals, Tally } from './tally.js';

/** The target of planned rows; `file` is the index of their file. */
interface PlanTarget {
  readonly file: number;
  /** What is the same for all rows of the file. */
  readonly source: Pick<ExampleRow, 'file' | 'path' | 'columns'>;
  readonly rows: RowOrdinals;
  readonly tally: Tally;
  readonly writer: StepWriter;
  /** Undefined for a step without prices. */
  readonly costs: CostTally | undefined;
}

/** Plans drafted rows without creating strings: the bytes of planned rows are copied into the plan. */
export function planBlock(
  block: DraftedBlock,
  planner: DraftPlanner,
  { file, source, rows, tally, writer, costs }: PlanTarget,
): void {
  const { drafts } = block;
  const { firstRow, lines } = block.rows;
  const drafted = new DraftedRow(block);
  const countries = new Uint32Array(drafts.countries.names.length + 1);
  const ucs2 = new Uint32Array(drafts.ucs2.names.length + 1);
  const { addKept } = tally;
  let ordinal = 0;
  const row = {
    get ordinal() {
      return ordinal;
    },
    fragment: () => drafted.fragmentBytes,
  };
  const place = { file, line: 0, row: firstRow - 1, costGroup: undefined as number | undefined };
  for (let index = 0; index < lines.length; index += 1) {
    place.line = lines[index] as number;
    place.row += 1;
    drafted.index = index;
    ordinal = rows.take();
    const refused = refuseRow(block, index, { planner, row });
    const found = refused ?? planner.findHours?.(nameAt(drafts.countries, index));
    const refusal = typeof found === 'string' ? undefined : found;
    if (refusal !== undefined) {
      tallyRefused(refusal, drafted, { source, place, tally });
      writer.addRefused(place, refusal, drafted);
      continue;
    }
    planner.note?.(drafts.numbers[index] as number, row);
    addKept?.(drafted.row, source.columns);
    count(countries, drafts.countries.of[index]);
    count(ucs2, drafts.ucs2.of[index]);
    tally.addUcs2Parts(drafts.extraParts?.[index] ?? 0);
    if (drafts.replaced !== undefined) tally.addReplaced(nameAt(drafts.replaced, index));
    if (tally.lacksExamples) tally.addExample(planner.preview(drafted.fragment));
    place.costGroup = costs && addCost(costs, drafts, index);
    writer.addDrafted(place, drafts.segments[index] as number, drafted, typeof found === 'string' ? found : undefined);
  }
  tally.addNames('countries', drafts.countries, countries);
  tally.addNames('ucs2', drafts.ucs2, ucs2);
}

function tallyRefused(
  refusal: RowRefusal,
  drafted: DraftedRow,
  { source, place: { line, row }, tally }: Pick<PlanTarget, 'source' | 'tally'> & { place: RowPlace },
): void {
  tally.addRefused(refusal);
  if (refusal.kind === 'rejected')
    tally.addReason(refusal.rejection, () => ({ ...source, line, row, cells: drafted.cells }));
  else if (refusal.skip.code === 'filtered') tally.addFiltered(refusal.skip.reason, drafted.row, source.columns);
}

function addCost(costs: CostTally, drafts: DraftBlock, index: number): number {
  return costs.add({
    country: nameAt(drafts.countries, index),
    number: drafts.numbers[index],
    parts: drafts.segments[index] as number,
    extraParts: drafts.extraParts?.[index] ?? 0,
    characters: nameAt(drafts.ucs2, index),
  });
}

function count(counts: Uint32Array, at = 0): void {
  counts[at] = (counts[at] ?? 0) + 1;
}

function refuseRow(
  { drafts }: DraftedBlock,
  index: number,
  { planner, row }: { planner: DraftPlanner; row: RefusableRow },
): RowRefusal | undefined {
  const number = drafts.numbers[index] as number;
  const omitted = number === 0 ? nameAt(drafts.omitted, index) : undefined;
  if (omitted !== undefined) return { kind: 'skipped', skip: { code: 'filtered', reason: omitted } };
  const rejection = drafts.segments[index] === 0 ? drafts.rejections.get(index) : undefined;
  if (number === 0 && rejection !== undefined) return { kind: 'rejected', rejection };
  return planner.refuse(number, rejection, row);
}

function nameAt(names: Names | undefined, index: number): string | undefined {
  return names?.names[(names.of[index] ?? 0) - 1];
}
