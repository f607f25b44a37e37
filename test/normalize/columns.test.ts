import { describe, expect, it, test } from 'vitest';
import { explainMissingColumn, findColumn } from '../../src/normalize/columns.js';

test('a column that no name matches is explained with the columns of the file, numbers masked', () => {
  const { message, hint } = explainMissingColumn('phone', ['mobile', '+65 9123 4567']);
  expect(message).toMatch(/^no column matches 'phone'; columns: mobile, /);
  expect(message).not.toContain('9123');
  expect(hint).toBeUndefined();
});

test('a name that matches several columns, and none exactly, is explained with those', () => {
  expect(explainMissingColumn('phone', ['Phone', 'name', 'PHONE ', '_phone'])).toEqual({
    message: "3 columns match 'phone': Phone, PHONE , _phone",
    hint: 'Write the name of one of them in the job exactly as it stands in the file.',
  });
});

test('columns of an output of Volley are matched by their own names only', () => {
  expect(explainMissingColumn('destination', ['Destination', '_destination']).message).toMatch(/^no column matches/);
});

describe('findColumn', () => {
  const columns = ['id', 'First Name', 'mobile', 'Mobile', 'E-Mail', 'e_mail', '電話番号', '#'];

  it('finds the exact name first, though another differs only by case', () => {
    expect(findColumn(columns, 'Mobile')).toBe(3);
  });

  it('takes no account of blanks around the name', () => {
    expect(findColumn(columns, ' mobile ')).toBe(2);
  });

  it.each(['first_name', 'FIRSTNAME', 'First-Name', 'ｆｉｒｓｔ　ｎａｍｅ'])(
    'finds "First Name" for %j, and says how',
    (wanted) => {
      expect(findColumn(columns, wanted)).toBe(1);
    },
  );

  it('finds nothing when several columns fit without case and punctuation', () => {
    expect(findColumn(columns, 'email')).toBeUndefined();
    expect(findColumn(columns, 'MOBILE')).toBeUndefined();
  });

  it('keeps letters of every script', () => {
    expect(findColumn(columns, '電話-番号')).toBe(6);
    expect(findColumn(columns, '電話')).toBeUndefined();
  });

  it('finds a column of punctuation by its exact name alone', () => {
    expect(findColumn(columns, '#')).toBe(7);
    expect(findColumn(columns, '!')).toBeUndefined();
  });

  it('finds no column by an empty name', () => {
    expect(findColumn(['', 'a'], ' ')).toBeUndefined();
  });

  it('finds a column that Volley adds by its own name alone, in any case', () => {
    const columns = ['_destination', 'Destination', '_sessionId'];
    expect(findColumn(columns, 'destination')).toBe(1);
    expect(findColumn(columns, '_DESTINATION')).toBe(0);
    expect(findColumn(columns, 'sessionId')).toBeUndefined();
    expect(findColumn(['sessionId'], '_sessionId')).toBe(0);
  });
});
