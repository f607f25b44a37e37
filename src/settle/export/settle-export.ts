import { UserError } from '../../domain/errors.js';
import type { InputFile } from '../../input/inputs.js';
import type { RecordReader } from '../../input/record-reader.js';
import { DEFAULT_READ_LIMITS } from '../../job/defaults.js';
import type { Input } from '../../job/job.js';
import type { Plan } from '../../plan/format/plan-file.js';
import type { InputReader } from '../../plan/plan-deps.js';
import type { AppendDeps } from '../../registry/append-to-run.js';
import { type LockedRun, type SettledCounts, settleRows } from '../settle-rows.js';
import { ExportMatch } from './export-match.js';
import { bindExportColumns } from './export-row.js';

export interface ExportDeps extends AppendDeps {
  readonly reader: Pick<InputReader, 'readRecords' | 'findColumn'>;
}

export interface ExportEnd {
  readonly settled: SettledCounts;
  /** Why rows remain in doubt → how many. */
  readonly left: Readonly<Record<string, number>>;
}

/**
 * Settles the rows in doubt that the service's message export, one file or several, decides: a listed message was
 * accepted, or rejected if it says so; an absent one was not sent, if the export shows that it would be listed
 * (findGap). Others remain in doubt.
 */
export async function settleByExport(
  run: LockedRun,
  exported: readonly InputFile[],
  deps: ExportDeps,
): Promise<ExportEnd> {
  const { plan } = run;
  const match = await ExportMatch.create(deps.files, run, deps.clock.now());
  const digests: string[] = [];
  for (const file of exported) digests.push(await readExport({ match, plan, file }, deps.reader));
  const left: Record<string, number> = {};
  const findProof = async ({ step, row }: { step: number; row: number }) => {
    const told = match.judge(step, row);
    if (typeof told !== 'string') return told;
    left[told] = (left[told] ?? 0) + 1;
    return undefined;
  };
  const by = `export sha256 ${digests.join(' ')}`;
  const settled = await settleRows(run, { by, findProof }, deps);
  return { settled, left };
}

/** Returns the digest of the file. Refuses one that is not a message export, or cannot be read as CSV. */
async function readExport(
  { match, plan, file }: { match: ExportMatch; plan: Plan; file: InputFile },
  reader: ExportDeps['reader'],
): Promise<string> {
  const records: RecordReader = reader.readRecords(file, anyInput(file));
  await records.open();
  const columns = bindExportColumns(records.columns, reader.findColumn);
  const [missing] = columns.missing;
  if (missing !== undefined) {
    await records.close();
    throw new UserError('bad-input', `Cannot settle by ${file.shown}: it has no column ${missing}, expected one`, {
      hint: "Give the CSV file of the service's message export as it was downloaded.",
    });
  }
  const [lacking] = columns.missingAsProof;
  if (lacking !== undefined) match.addFault(`${file.shown} has no column ${lacking}`);
  const ours = { id: plan.id, subAccountId: plan.job.service.subAccountId };
  match.beginFile();
  for await (const batch of records.batches()) {
    for (const { cells, fault, line } of batch) {
      const where = `line ${line} of ${file.shown}`;
      if (fault !== undefined) {
        match.addFault(`${where} cannot be read (${fault.code}): it may have been cut off or damaged`);
      } else if (columns.isSwallowing(cells, ours)) {
        match.addFault(`${where} holds other rows in one cell: a quote in a text may not be doubled, and hide more`);
      } else match.add(columns.read(cells));
    }
  }
  return records.sha256;
}

/** An input with default settings. */
function anyInput({ path, format }: InputFile): Input {
  const unsaid = { encoding: undefined, delimiter: undefined, country: undefined, countryColumn: undefined } as const;
  return { ...unsaid, files: [path], format, limits: DEFAULT_READ_LIMITS };
}
