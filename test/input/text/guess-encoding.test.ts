import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guessEncoding } from '../../../src/input/text/encoding.js';
import { aFolder } from '../../plan/a-plan.js';

function guessOf(content: Uint8Array): Promise<string | undefined> {
  const path = join(aFolder({ 'people.csv': content }), 'people.csv');
  return guessEncoding({ path, shown: 'people.csv', maxFileBytes: 1e9 });
}

test.each([
  ['windows-1252 of a spreadsheet', Buffer.from('Name;Straße\nJörg Groß;Köln\nZoé;Älgö\n', 'latin1'), 'windows-1252'],
  ['ASCII', Buffer.from('name\nAnn\n'), undefined],
  ['UTF-8', Buffer.from('name\nJörg\n'), undefined],
  ['UTF-16 with its mark', Buffer.from('\ufeffname\nJörg\n', 'utf16le'), undefined],
  // こんにちは
  ['Shift_JIS', Buffer.from('6e616d650a82b182f182c982bf82cd0a', 'hex'), undefined],
  // Привет
  ['windows-1251', Buffer.from('6e616d650acff0e8e2e5f20a', 'hex'), undefined],
  // Łukasz, Žofie
  ['windows-1250', Buffer.from('6e616d650aa3756b61737a0a8e6f6669650a', 'hex'), undefined],
  [
    'Germans, with a Søren and a María',
    Buffer.from('name\nJürgen Müller\nSøren Weiß\nMaría Groß\n', 'latin1'),
    'windows-1252',
  ],
  ['Czech and German in windows-1250', Buffer.from('name\nDvoøák\nJürgen Müller\nBäumler\n', 'latin1'), undefined],
  ['mostly Czech in windows-1250', Buffer.from('name\nBøezina\nNovák\nMüller\n', 'latin1'), undefined],
  ['Czech in windows-1250', Buffer.from('name\nJiøí Dvoøák\n', 'latin1'), undefined],
  ['Danish in windows-1252', Buffer.from('name\nSøren Ågård, André\n', 'latin1'), 'windows-1252'],
  ['bytes that are not text', Buffer.from([0x61, 0x0a, 0xf4, 0x00, 0x01, 0x9d]), undefined],
])('of %s nothing is guessed but what is certain', async (_what, content, encoding) => {
  expect(await guessOf(content)).toBe(encoding);
});
