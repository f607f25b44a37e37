import { expect, test } from 'vitest';
import { explainMissingColumn } from '../../src/normalize/columns.js';

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
