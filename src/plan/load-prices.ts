import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { type RecordReader, readBatches } from '../input/record-reader.js';
import type { Job, JobPrices, RowStep } from '../job/job.js';
import { kindOf } from '../kinds/kinds.js';
import { CostTally, type PlannedPrices } from '../prices/cost-tally.js';
import { PriceList, PriceListParser, type PriceRow } from '../prices/price-list.js';
import type { InputReader } from './plan-deps.js';
import type { ProblemList } from './problems.js';

/** The price list of a job, and how its plan names it. */
export interface LoadedPrices {
  readonly settings: JobPrices;
  readonly list: PriceList;
  readonly planned: PlannedPrices;
}

/** Reads the price list of a job to its end; gathers all its faults, and gives undefined where there are any, or no list. */
export async function loadPrices(
  { prices: settings, directory }: Pick<Job, 'prices' | 'directory'>,
  context: { deps: { reader: Pick<InputReader, 'listInputs' | 'readRecords'> }; problems: ProblemList },
): Promise<LoadedPrices | undefined> {
  const { reader } = context.deps;
  if (settings === undefined) return undefined;
  return await context.problems.gather('prices.file', async () => {
    const [file, other] = await reader.listInputs(settings.input.files, directory);
    if (file === undefined || other !== undefined) {
      throw new UserError('bad-input', 'the pattern matches several files, expected one price list');
    }
    const records = reader.readRecords({ ...file, key: 'prices' }, settings.input);
    const rows = await readRows(records, file.shown);
    const { shown, path } = file;
    const { currency } = settings;
    const planned = { file: shown, path, sha256: records.sha256, currency, rows: rows.length };
    return { settings, list: new PriceList(rows), planned };
  });
}

async function readRows(records: RecordReader, shown: string): Promise<readonly PriceRow[]> {
  await records.open();
  const isCommaDecimal = records.delimiter === ';';
  const parser = new PriceListParser(records.columns, { shown, isCommaDecimal });
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

/** Counts what a step costs; undefined where its rows cost nothing. Contacts cost something where the list has prices of contacts. */
export function createCostTally(step: RowStep, list: PriceList): CostTally | undefined {
  const { pricedAs } = kindOf(step);
  if (pricedAs === undefined || (pricedAs === 'contact' && !list.hasContactPrices)) return undefined;
  return new CostTally(list, pricedAs);
}

/** Adds a problem where rows of a step have no price, unless the job lets them count as costing nothing. */
export function refuseMissingPrices(
  costs: CostTally,
  { number, kind }: { readonly number: number; readonly kind: string },
  { prices, problems }: { readonly prices?: LoadedPrices | undefined; readonly problems: ProblemList },
): void {
  const missing = Object.entries(costs.withoutPrice);
  if (prices === undefined || prices.settings.onMissing === 'zero' || missing.length === 0) return;
  const listed = missing.map(
    ([country, rows]) => `${nameMissing(country)} (${countOf(rows, kind === 'contacts' ? 'contact' : 'message')})`,
  );
  problems.add({
    where: prices.planned.file,
    message: `no price for ${listed.join(', ')}, expected one for each country that step ${number} (${kind}) goes to`,
    hint: 'Add them to the list, or write `onMissing: zero` in `prices`: they then count as without a price.',
  });
}

/** `ZZ` has numbers that belong to no country. */
function nameMissing(country: string): string {
  if (country === '') return 'rows without a number';
  return country === 'ZZ' ? 'ZZ, numbers of no country' : country;
}
