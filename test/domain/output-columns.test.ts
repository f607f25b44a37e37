import { describe, expect, it } from 'vitest';
import {
  isIgnoredColumn,
  isOwnHeader,
  listOwnColumns,
  readNames,
  readOwnName,
} from '../../src/domain/output-columns.js';

describe('columns that Volley adds', () => {
  it('are those that the outputs of every kind add, however they are written', () => {
    const names = [
      '_umid',
      '_sessionId',
      '_text',
      '_other',
      'umid',
      ' _ROWID ',
      '_Row',
      '_LİNE',
      '_rowıd',
      '＿ｓｔｅｐ',
    ];
    expect(names.map(readOwnName)).toEqual([
      '_umid',
      '_sessionId',
      '_text',
      undefined,
      undefined,
      '_rowId',
      '_row',
      '_line',
      '_rowId',
      '_step',
    ]);
  });

  it('that a step may read are what the service said; the others are passed over', () => {
    expect(
      ['_step', '_status', '_stage', '_rowId', '_text', '_STATUS'].filter((name) => !isIgnoredColumn(name)),
    ).toEqual([]);
    expect(['_sessionId', '_destination', '_umid', '_time', 'name'].filter(isIgnoredColumn)).toEqual([]);
  });

  it('say which output it is, those of deliveries too, whatever their case', () => {
    const expected = ['_row', '_state', '_errorCode', '_mine'];
    expect(listOwnColumns(['name', '_row', '_STATE', '_ErrorCode', '_mine'])).toEqual(expected);
  });

  it('make a file ours only when the four that every output has are there', () => {
    expect(isOwnHeader(['mobile', '_row', '_line', '_file', '_step'])).toBe(true);
    expect(isOwnHeader(['mobile', '_row', '_line', '_file', '_reason'])).toBe(false);
    expect(isOwnHeader(readNames(['MOBILE', '_ROW', '_LINE', '_FILE', '_STEP']))).toBe(true);
  });
});
