import { countOf, format } from '../../domain/count-of.js';
import type { SuppressionInput } from '../format/plan-file.js';

type Figures = Omit<SuppressionInput, 'path' | 'sha256'>;

/** What a list did: `stop.csv: 58 read in column mobile · 45 found among the recipients · 13 not · 20 without + read as DE`. */
export function describeList(
  { file, columns, read, found, notFound, withoutPlus, readAs }: Figures,
  among = 'the recipients',
): string {
  return [
    `${file}: ${format(read)} read in ${columns.length === 1 ? 'column' : 'columns'} ${columns.join(', ')}`,
    `${format(found)} found among ${among}`,
    `${format(notFound)} not`,
    ...(withoutPlus === 0 ? [] : [`${format(withoutPlus)} without + read as ${readAs}`]),
  ].join(' · ');
}

/** That opt-outs of other countries may be missed; undefined where none can be. */
export function warnOfList({ file, columns, ambiguous, readAs }: Figures): string | undefined {
  if (ambiguous === 0) return undefined;
  const read = `${countOf(ambiguous, 'number')} without + ${ambiguous === 1 ? 'was' : 'were'} read as ${readAs}`;
  const keys = columns.length > 1 ? 'column, country or countryColumn' : 'country or countryColumn';
  return `${file}: ${read}, and the recipients are of several countries: opt-outs of the others may be missed. Write them with +; under suppress a list may also state ${keys}`;
}
