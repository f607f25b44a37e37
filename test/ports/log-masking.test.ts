import { expect, test } from 'vitest';
import { createJsonLog } from '../../src/ports/log.js';

test('log masks the numbers of people in messages and in fields', () => {
  const lines: string[] = [];
  const log = createJsonLog({ write: (line) => void lines.push(line) }, () => []);
  log.warn('+6591234567 was called twice', { said: 'to +6591234567 again' });
  const expected = { msg: '+65******67 was called twice', said: 'to +65******67 again' };
  expect(JSON.parse(lines[0] ?? '')).toMatchObject(expected);
});
