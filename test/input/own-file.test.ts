import { describe, expect, it } from 'vitest';
import { aDirectory, aFile, aGzip, anInput, readWhole } from './builders.js';

const directory = aDirectory();
const stated = anInput({ encoding: 'windows-1252', delimiter: ';' });
const OWN = 'Vorname,Mobil,_step,_file,_line,_row,_reason\nXäver,+4915112345678,3,a.csv,2,1,fixed\n';

describe('An output of Volley beside files with a stated encoding and delimiter', () => {
  it('is read as we wrote it: UTF-8 with commas', async () => {
    const { cells } = await readWhole(aFile(directory, OWN), stated);
    expect(cells).toEqual([['Xäver', '+4915112345678']]);
  });

  it('is read as we wrote it for German Excel, though the job states commas', async () => {
    const german = `\ufeff${OWN.replaceAll(',', ';')}`;
    const commas = anInput({ encoding: 'windows-1252', delimiter: ',' });
    expect((await readWhole(aFile(directory, german), commas)).cells).toEqual([['Xäver', '+4915112345678']]);
  });

  it('is known when it is packed, and when the place columns come first', async () => {
    const first = '_step,_file,_line,_row,_status,Vorname\n3,a.csv,2,1,QUEUED,Zoë\n';
    expect((await readWhole(aFile(directory, aGzip(OWN), 'own.csv.gz'), stated)).cells).toHaveLength(1);
    expect((await readWhole(aFile(directory, first), stated)).cells).toEqual([['Zoë']]);
  });

  it.each([
    ['in quotes', 'own.csv', OWN.replace(/[^,\n]+/g, '"$&"')],
    ['in quotes, with semicolons', 'own.csv', OWN.replace(/[^,\n]+/g, '"$&"').replaceAll(',', ';')],
    ['with tabs', 'own.csv', OWN.replaceAll(',', '\t')],
    [
      'as NDJSON',
      'own.ndjson',
      '{"Vorname":"Xäver","Mobil":"+4915112345678","_step":3,"_file":"a.csv","_line":2,"_row":1}\n',
    ],
  ])('is read as UTF-8 %s', async (_how, name, text) => {
    const { cells } = await readWhole(aFile(directory, text, name), stated);
    expect(cells).toEqual([['Xäver', '+4915112345678']]);
  });

  it('is read as stated once a spreadsheet saved it so', async () => {
    const saved = Buffer.from(OWN.replaceAll(',', ';'), 'latin1');
    expect((await readWhole(aFile(directory, saved), stated)).cells).toEqual([['Xäver', '+4915112345678']]);
    const commas = anInput({ encoding: 'windows-1252' });
    const withCommas = Buffer.from(OWN, 'latin1');
    expect((await readWhole(aFile(directory, withCommas), commas)).cells).toEqual([['Xäver', '+4915112345678']]);
  });

  it('is no such file when its columns only resemble ours', async () => {
    const other = Buffer.from('Vorname;_step,_file,_line,_rows\nXäver;1\n', 'latin1');
    expect((await readWhole(aFile(directory, other), stated)).cells).toEqual([['Xäver', '1']]);
  });
});
