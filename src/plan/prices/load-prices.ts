import { UserError } from '../../domain/errors.js';
import { type RecordReader, readBatches } from '../../input/record-reader.js';
import type { Input, Job } from '../../job/job.js';
import { PriceListParser } from '../../prices/parse-price-list.js';
import type { PriceSettings } from '../../prices/price-list.js';
import { PriceList, type PriceRow } from '../../prices/price-list.js';
import type { PlannedPrices } from '../../prices/step-cost.js';
import type { InputReader } from '../plan-deps.js';
import type { ProblemList } from '../problems.js';

/** The price list of a job, and how its plan names it. */
export interface LoadedPrices {
  readonly settings: PriceSettings<Input>;
  readonly list: PriceList;
  readonly planned: PlannedPrices;
}

type PriceReader = Pick<InputReader, 'listInputs' | 'readRecords' | 'findColumn'>;

/** Reads the price list of a job to its end; gathers all its faults, and gives undefined where there are any, or no list. */
export async function loadPrices(
  { prices: settings, directory }: Pick<Job, 'prices' | 'directory'>,
  { deps: { reader }, problems }: { deps: { reader: PriceReader }; problems: ProblemList },
): Promise<LoadedPrices | undefined> {
  if (settings === undefined) return undefined;
  return await problems.gather('prices.file', async () => {
    const [file, other] = await reader.listInputs(settings.input.files, directory);
    if (file === undefined || other !== undefined) {
      throw new UserError('bad-input', 'the pattern matches several files, expected one price list');
    }
    const records = reader.readRecords({ ...file, key: 'prices' }, settings.input);
    const rows = await readRows(records, file.shown, reader);
    const { shown, path } = file;
    const { currency } = settings;
    const planned = { file: shown, path, sha256: records.sha256, currency, rows: rows.length };
    return { settings, list: new PriceList(rows), planned };
  });
}

async function readRows(
  records: RecordReader,
  shown: string,
  { findColumn }: Pick<PriceReader, 'findColumn'>,
): Promise<readonly PriceRow[]> {
  await records.open();
  const isCommaDecimal = records.delimiter === ';';
  const parser = new PriceListParser(records.columns, { shown, findColumn, isCommaDecimal });
  if (parser.hasColumns) {
    for await (const batch of readBatches(records)) {
      for (const { cells, line, fault } of batch) {
        if (fault === undefined) parser.add(cells, line);
        else parser.refuse(line, fault.reason);
      }
    }
  } else await records.close();
  const { problems, rows } = parser;
  if (problems.length === 0 && rows.length > 0) return rows;
  const empty = { where: shown, message: 'the price list has no rows, expected a price for each country' };
  throw new UserError('bad-input', 'the price list is faulty', { problems: problems.length > 0 ? problems : [empty] });
}
