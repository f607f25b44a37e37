import { describe, expect, test } from 'vitest';
import { readSecret } from '../../src/command/open-service.js';
import type { SecretSource } from '../../src/job/job.js';

const WHAT = 'the API key of sms';

function read(source: SecretSource, held: { env?: Record<string, string>; file?: string }): Promise<string> {
  const readFile = async (path: string) => ('file' in source && path === source.file ? held.file : undefined);
  return readSecret(source, { env: held.env ?? {}, readFile }, WHAT);
}

describe('readSecret', () => {
  test('gives what the variable or the file holds, without line ends after it', async () => {
    expect(await read({ env: 'KEY' }, { env: { KEY: 'abc' } })).toBe('abc');
    expect(await read({ env: 'KEY' }, { env: { KEY: 'abc\n' } })).toBe('abc');
    expect(await read({ file: '/keys/sms' }, { file: 'abc\r\n' })).toBe('abc');
  });

  test('names the variable that is not set', async () => {
    await expect(read({ env: 'KEY' }, {})).rejects.toMatchObject({
      code: 'bad-credentials',
      message:
        'Cannot read the API key of sms: the environment variable KEY is not set, expected it to contain the API key of sms',
    });
  });

  test('does not take what every object has for a variable', async () => {
    await expect(read({ env: 'constructor' }, {})).rejects.toThrow('is not set');
  });

  test('names the file that is not there, and the one that cannot be read', async () => {
    await expect(read({ file: '/keys/sms' }, {})).rejects.toThrow('the file /keys/sms does not exist');
    const failure = Object.assign(new Error('no'), { code: 'EACCES' });
    const deps = { env: {}, readFile: () => Promise.reject(failure) };
    await expect(readSecret({ file: '/keys/sms' }, deps, WHAT)).rejects.toMatchObject({
      code: 'bad-credentials',
      message: expect.stringContaining('the file /keys/sms cannot be read (EACCES)'),
    });
  });

  test.each(['', '\n', '\r\n\r\n'])('refuses %j as empty', async (value) => {
    await expect(read({ env: 'KEY' }, { env: { KEY: value } })).rejects.toThrow('KEY is empty');
  });

  test.each([
    'sk_live 1',
    ' sk_live',
    'sk_live\u0000',
    'sk_live\nsecond',
    'sk_live\u007f',
    '“sk_live”',
    '\uFEFFsk_live',
    'sk_live'.repeat(2000),
  ])('refuses %j and does not repeat it', async (value) => {
    for (const attempt of [read({ env: 'KEY' }, { env: { KEY: value } }), read({ file: '/k' }, { file: value })]) {
      const error = await attempt.catch((thrown: unknown) => thrown);
      const expected = { code: 'bad-credentials', message: expect.stringContaining('expected only the secret') };
      expect(error).toMatchObject(expected);
      expect(JSON.stringify([error, String(error)])).not.toContain('sk_live');
    }
  });

  test('names the byte order mark, which no editor shows', async () => {
    await expect(read({ file: '/k' }, { file: '\uFEFFsk_live\r\n' })).rejects.toMatchObject({
      hint: expect.stringContaining('byte order mark'),
    });
  });
});
