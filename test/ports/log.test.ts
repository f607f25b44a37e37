import { expect, test } from 'vitest';
import { createJsonLog, type LogFields, scrubSecrets } from '../../src/ports/log.js';

function aLog(secrets: readonly string[] = []) {
  const lines: string[] = [];
  const log = createJsonLog({ write: (line) => void lines.push(line) }, () => secrets);
  return { log, lines };
}

test('log writes one JSON line an event, with its level, time, message and fields', () => {
  const { log, lines } = aLog();
  log.info('step begins', { step: 2, kind: 'sms', isResumed: true, skipped: undefined });
  log.warn('line\nbreak');
  log.error('failed', { code: 'write-failed' });
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  const events = lines.map((line) => JSON.parse(line));
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
  expect(events[0]).toEqual({ level: 30, time, msg: 'step begins', step: 2, kind: 'sms', isResumed: true });
  expect(events.slice(1)).toMatchObject([
    { level: 40, msg: 'line\nbreak' },
    { level: 50, msg: 'failed', code: 'write-failed' },
  ]);
});

test('log drops fields that are neither a figure, a text nor a truth value, whatever the types say', () => {
  const { log, lines } = aLog();
  const error = new Error('the body was: Hi Ann');
  const fields = { rows: 3, body: { text: 'Hi Ann' }, numbers: ['+6591234567'], error, err: error, say: () => 'x' };
  log.error('stopped', fields as unknown as LogFields);
  expect(Object.keys(JSON.parse(lines[0]!)).sort()).toEqual(['level', 'msg', 'rows', 'time']);
  expect(lines[0]).not.toMatch(/Ann|6591234567/);
});

test('log scrubs secrets from messages, fields and names of fields, as often as they occur', () => {
  const { log, lines } = aLog(['k3y-of-acme']);
  log.info('Bearer k3y-of-acme, k3y-of-acme', { header: 'x-k3y-of-acme-y', 'k3y-of-acme': 1 });
  expect(lines[0]).not.toContain('k3y');
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'Bearer [secret], [secret]', header: 'x-[secret]-y' });
});

test('log scrubs a secret with quotes and backslashes, which JSON writes in another form', () => {
  const { log, lines } = aLog(['a"b\\c']);
  log.info('key a"b\\c', { key: 'a"b\\c' });
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'key [secret]', key: '[secret]' });
});

test('log scrubs a secret that became known after the log was made', () => {
  const secrets: string[] = [];
  const { log, lines } = aLog(secrets);
  secrets.push('late-key');
  log.info('late-key');
  expect(lines[0]).not.toContain('late-key');
});

test('scrubbing leaves no rest of a secret that begins with another', () => {
  expect(scrubSecrets('key abc-def-123', ['abc', 'abc-def-123'])).toBe('key [secret]');
  expect(scrubSecrets('key abc-def-123', ['abc-def-123', 'abc'])).toBe('key [secret]');
});

test('scrubbing searches no text that it put in the place of a secret', () => {
  expect(scrubSecrets('key abc, a secret', ['abc', 'secret', 'e'])).toBe('k[secret]y [secret], a [secret]');
});

test('scrubbing takes secrets literally, and an empty one for none', () => {
  expect(scrubSecrets('a.c abc $&', ['a.c', ''])).toBe('[secret] abc $&');
  const signs = '^$\\.*+?()[]{}|-/#';
  expect(scrubSecrets(`is ${signs}, not x`, [signs, 'x|y'])).toBe('is [secret], not x');
  expect(scrubSecrets('nothing here', [''])).toBe('nothing here');
});
