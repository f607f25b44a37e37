import { describe, expect, it } from 'vitest';
import { findColumn, isOwnColumn, isOwnHeader } from '../../src/read/columns.js';

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

describe('columns of ours', () => {
  it('are those that the outputs add', () => {
    expect(isOwnColumn('_umid')).toBe(true);
    expect(isOwnColumn('_text')).toBe(true);
    expect(isOwnColumn('_other')).toBe(false);
    expect(isOwnColumn('umid')).toBe(false);
  });

  it('make a file ours only when the four that every output has are there', () => {
    expect(isOwnHeader(['mobile', '_row', '_line', '_file', '_step'])).toBe(true);
    expect(isOwnHeader(['mobile', '_row', '_line', '_file', '_reason'])).toBe(false);
  });
});
