import type { Random } from '../../src/sandbox/random.js';
import type { InputTable } from '../world/table-reader.js';
import { pick } from './walk-world.js';

/**
 * A rejections file as a person gives it back: as it was, or with numbers fixed, another column, and rows taken out; some rows
 * have the id of one that was accepted, as a spreadsheet fills them down. Undefined where none is left.
 */
export function fixRejections(
  records: readonly Readonly<Record<string, string>>[],
  acceptedIds: readonly string[],
  random: Random,
): InputTable | undefined {
  const isEdited = random() < 0.7;
  const left = isEdited ? records.filter(() => random() < 0.9) : records;
  const [first] = left;
  if (first === undefined) return undefined;
  const own = Object.keys(first).filter((name) => name.startsWith('_'));
  const rows = left.map((record) => {
    const { name = '', mobile = '' } = record;
    const edited = isEdited ? [fix(name, mobile, random), `edit ${random()}`] : [mobile];
    const isForged = isEdited && acceptedIds.length > 0 && random() < 0.1;
    const ids: Readonly<Record<string, string>> = isForged ? { _rowId: pick(acceptedIds, random) } : {};
    return [name, ...edited, ...own.map((column) => ids[column] ?? record[column] ?? '')];
  });
  return { columns: ['name', 'mobile', ...(isEdited ? ['note'] : []), ...own], rows };
}

/** Of someone without a number it is found, mostly; some others have another one by now. */
function fix(name: string, mobile: string, random: Random): string {
  const chance = random();
  if (mobile === 'n/a') return chance < 0.7 ? `+65${92_000_000 + Number(name.slice(1))}` : mobile;
  const other = isFound(mobile) ? 94_000_000 : 93_000_000;
  return chance < 0.3 ? `+65${other + Number(mobile.slice(-6))}` : mobile;
}

/** Who has a number, before it was fixed and after. */
export function personOf(number: string): string {
  return `${isFound(number) ? 'N' : 'P'}${number.slice(-6)}`;
}

/** Of someone who had no number at first. */
function isFound(number: string): boolean {
  return /^\+659[24]/.test(number);
}
