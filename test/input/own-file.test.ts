import { describe, expect, it } from 'vitest';
import { aDirectory, aFile, aGzip, anInput, readWhole } from './builders.js';

const directory = aDirectory();
const stated = anInput({ encoding: 'windows-1252', delimiter: ';' });
const OWN = 'Vorname,Mobil,_step,_file,_line,_row,_reason\nXäver,+4915112345678,3,a.csv,2,1,fixed\n';

describe('an output of Volley beside files with a stated encoding and delimiter', () => {
  it('is read as we wrote it: UTF-8 with commas', async () => {
    expect((await readWhole(aFile(directory, OWN), stated)).cells).toEqual([['Xäver', '+4915112345678']]);
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
    expect((await readWhole(aFile(directory, text, name), stated)).cells).toEqual([['Xäver', '+4915112345678']]);
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

const ID = '0123456789ab-1-0';

async function readOwn(content: string, name = 'people.csv') {
  const { reader, records } = await readWhole(aFile(directory, content, name));
  return { ownColumns: reader.ownColumns, ids: records.map((record) => record.ownId) };
}

describe('an output of Volley', () => {
  it('tells which of its columns begin as ours do, and the id of each row', async () => {
    const own = await readOwn(
      `name,_sessionId,_step,_file,_line,_row,_stage,_rowId\nAnn,s,1,a,2,1,send,${ID}\nBen,s,1,a,3,2,,\n`,
    );
    const ownColumns = [['_sessionId', '_step', '_file', '_line', '_row', '_stage', '_rowId']];
    expect(own).toEqual({ ownColumns, ids: [ID, ''] });
  });

  it('has no id for a row whose fields do not fit: it is hidden, not missing', async () => {
    const { ids } = await readOwn(`name,_step,_file,_line,_row,_rowId\nAnn,1,a,2,1\nAnn,B,1,a,2,1,${ID}\n`);
    expect(ids).toEqual(['?', '?']);
  });

  it('is known with its header in capitals, and so is the id of each row', async () => {
    const own = await readOwn(`NAME,_STEP,_FILE,_LINE,_ROW,_STAGE,_ROWID\nAnn,1,a,2,1,send,${ID}\n`);
    expect(own).toEqual({ ownColumns: [['_step', '_file', '_line', '_row', '_stage', '_rowId']], ids: [ID] });
    const place = '"_STEP":1,"_FILE":"a","_LINE":2,"_ROW":1';
    const rows = `{"a":"1",${place},"_ROWID":"${ID}"}\n{"a":"1",${place},"_ROWID":"${ID}","_rowId":""}\n{"a":1,"_ROWID":\n`;
    const ownColumns = [['_step', '_file', '_line', '_row', '_rowId'], expect.anything()];
    expect(await readOwn(rows, 'people.ndjson')).toMatchObject({ ownColumns, ids: [ID, '?', '?'] });
  });

  it('of NDJSON tells every set of columns that its rows have', async () => {
    const place = '"_step":1,"_file":"a","_line":2,"_row":1';
    const rows = [
      `{"a":"1",${place},"_rowId":"${ID}"}`,
      `{${place},"_status":"QUEUED"}`,
      `{"a":"2",${place},"_rowId":null}`,
    ];
    expect(await readOwn(`${rows.join('\n')}\n{"a":1,"_rowId":"${ID}"\n`, 'people.ndjson')).toEqual({
      ownColumns: [
        ['_step', '_file', '_line', '_row', '_rowId'],
        ['_step', '_file', '_line', '_row', '_status'],
      ],
      ids: [ID, undefined, '', '?'],
    });
  });
});

it('any other file has neither', async () => {
  expect(await readOwn('name,_mine\nAnn,1\n')).toEqual({ ownColumns: [], ids: [undefined] });
});
