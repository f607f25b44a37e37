import { describe, expect, it } from 'vitest';
import { readOwnName } from '../../src/domain/output-columns.js';
import { findColumn, isIgnoredColumn, isOwnHeader, listOwnColumns, readNames } from '../../src/input/own-columns.js';

describe('findColumn', () => {
  const columns = ['id', 'First Name', 'mobile', 'Mobile', 'E-Mail', 'e_mail', '電話番号', '#'];

  it('finds the exact name first, though another differs only by case', () => {
    expect(findColumn(columns, 'Mobile')).toEqual({ index: 3, how: 'exact' });
  });

  it('takes no account of blanks around the name', () => {
    expect(findColumn(columns, ' mobile ')).toEqual({ index: 2, how: 'exact' });
  });

  it.each(['first_name', 'FIRSTNAME', 'First-Name', 'ｆｉｒｓｔ　ｎａｍｅ'])(
    'finds "First Name" for %j, and says how',
    (wanted) => {
      expect(findColumn(columns, wanted)).toEqual({ index: 1, how: 'folded' });
    },
  );

  it('finds nothing when several columns fit without case and punctuation', () => {
    expect(findColumn(columns, 'email')).toBeUndefined();
    expect(findColumn(columns, 'MOBILE')).toBeUndefined();
  });

  it('keeps letters of every script', () => {
    expect(findColumn(columns, '電話-番号')).toEqual({ index: 6, how: 'folded' });
    expect(findColumn(columns, '電話')).toBeUndefined();
  });

  it('finds a column of punctuation by its exact name alone', () => {
    expect(findColumn(columns, '#')).toEqual({ index: 7, how: 'exact' });
    expect(findColumn(columns, '!')).toBeUndefined();
  });

  it('finds no column by an empty name', () => {
    expect(findColumn(['', 'a'], ' ')).toBeUndefined();
  });
});

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
    expect(listOwnColumns(['name', '_row', '_STATE', '_ErrorCode', '_mine'])).toEqual([
      '_row',
      '_state',
      '_errorCode',
      '_mine',
    ]);
  });

  it('are found by their own name alone, in any case', () => {
    const columns = ['_destination', 'Destination', '_sessionId'];
    expect(findColumn(columns, 'destination')).toEqual({ index: 1, how: 'folded' });
    expect(findColumn(columns, '_DESTINATION')).toEqual({ index: 0, how: 'folded' });
    expect(findColumn(columns, 'sessionId')).toBeUndefined();
    expect(findColumn(['sessionId'], '_sessionId')).toEqual({ index: 0, how: 'folded' });
  });

  it('make a file ours only when the four that every output has are there', () => {
    expect(isOwnHeader(['mobile', '_row', '_line', '_file', '_step'])).toBe(true);
    expect(isOwnHeader(['mobile', '_row', '_line', '_file', '_reason'])).toBe(false);
    expect(isOwnHeader(readNames(['MOBILE', '_ROW', '_LINE', '_FILE', '_STEP']))).toBe(true);
  });
});
