import { describe, expect, it } from 'vitest';
import { aDirectory, aFile, anInput, readRefused, readWhole } from '../builders.js';

const directory = aDirectory();
const csv = (content: string | Uint8Array) => aFile(directory, content);

// Any table, however it is written, and its lines: csv.long.test.ts.
describe('CSV reader: rows', () => {
  it('gives the cells of each row in the order of the columns, with line and row', async () => {
    const { columns, records } = await readWhole(csv('id,mobile\n1,+6591234567\n2,\n'));
    expect(columns).toEqual(['id', 'mobile']);
    expect(records).toEqual([
      { cells: ['1', '+6591234567'], line: 2, row: 1, fault: undefined },
      { cells: ['2', ''], line: 3, row: 2, fault: undefined },
    ]);
  });

  it('passes over blank lines and lines of nothing but delimiters and blanks, counts their lines and says so', async () => {
    const { lines, records, notices } = await readWhole(csv('\n,\na,b\n\n1,2\n , \n\r\n"",\n3,4\n'));
    expect(lines).toEqual([5, 9]);
    expect(records.map((record) => record.row)).toEqual([1, 2]);
    expect(notices).toContain('ignored 6 blank lines');
  });

  it('passes over rows of blanks that are not ASCII, wherever they stand', async () => {
    const blanks = ['\u00a0', '\u3000,\u2003', '"\u00a0",'];
    const content = (blank: string) => csv(`${blank}\na,b\n${blank}\n1,2\n${blank}\n`);
    for (const blank of blanks) {
      const { columns, cells, lines, notices } = await readWhole(content(blank));
      expect({ columns, cells, lines }).toEqual({ columns: ['a', 'b'], cells: [['1', '2']], lines: [4] });
      expect(notices).toContain('ignored 3 blank lines');
    }
    expect((await readWhole(csv('a,b\n\u00a0,é\n\u00a0,1\né,\n'))).cells).toEqual([
      ['\u00a0', 'é'],
      ['\u00a0', '1'],
      ['é', ''],
    ]);
  });
});

describe('CSV reader: formulas that hold a text', () => {
  it.each([',', ';', '\t', '|'])('are read without quotes around them, delimited by %j', async (delimiter) => {
    const rows = [
      ['name', 'mobile', 'city'],
      ['"Chan, W|x;y"', '="0151 234"', '=""'],
      ['="Ann"', '="+65 9123"', 'é'],
    ];
    const { cells } = await readWhole(csv(rows.map((row) => row.join(delimiter)).join('\r\n')));
    expect(cells).toEqual([
      ['Chan, W|x;y', '0151 234', ''],
      ['Ann', '+65 9123', 'é'],
    ]);
  });

  it('are their text in quotes too, in the header as well, and no other formula is', async () => {
    const { columns, cells } = await readWhole(csv('="a",b\n"=""0151 234""","=1+1"\n"=""1""&""2""","=""1"" "\n'));
    expect(columns).toEqual(['a', 'b']);
    expect(cells).toEqual([
      ['0151 234', '=1+1'],
      ['="1"&"2"', '="1" '],
    ]);
  });

  it('are not sought in quotes, where what looks so belongs to the text', async () => {
    const { cells } = await readWhole(csv('a,b\n"x,="",y",1\n"=""1""",2\n"x,=""1"",y",3\n'));
    expect(cells).toEqual([
      ['x,=",y', '1'],
      ['1', '2'],
      ['x,="1",y', '3'],
    ]);
  });

  it.each(['="1,2"', '="1"2', 'x="1"', '="1', '"x,="",y",="1"'])(
    'refuse the file where it is not clear what they are: %s',
    async (row) => {
      expect((await readRefused(csv(`a,b\n${row},3\n`))).join()).toContain('people.csv:2: ');
    },
  );
});

describe('CSV reader: rows at fault', () => {
  it('pads a row with too few fields and says how many it has', async () => {
    const { records } = await readWhole(csv('a,b,c\n1,2\n4,5,6\n'));
    expect(records[0]).toEqual({
      cells: ['1', '2', ''],
      line: 2,
      row: 1,
      fault: {
        stage: 'read',
        field: '',
        code: 'too-few-fields',
        reason: 'the row has 2 fields, expected 3 as in the header',
      },
    });
    expect(records[1]?.fault).toBeUndefined();
  });

  it('keeps what stands beyond the columns in the reason, so that nothing is lost', async () => {
    const { records } = await readWhole(csv('a,b\n1,2,"x ""y""",z\n'));
    expect(records[0]?.cells).toEqual(['1', '2']);
    const reason = 'the row has 4 fields, expected 2 as in the header; surplus: "x \\"y\\"", "z"';
    expect(records[0]?.fault).toEqual({ stage: 'read', field: '', code: 'too-many-fields', reason });
  });

  it('says of rows that end with a delimiter that the header lacks it', async () => {
    const { records } = await readWhole(csv('a,b\n1,2,\n1,2,x\n'));
    expect(records.map(({ fault }) => fault?.reason.endsWith('so must the header'))).toEqual([true, false]);
  });

  it('compares with the header, not with the first line of the file', async () => {
    expect((await readWhole(csv(',,,\na,b\n1,2\n'))).faults).toEqual([undefined]);
  });
});

describe('CSV reader: quotes out of their place refuse the file', () => {
  it('names the line of the row whose quote never closes, not the end of the file', async () => {
    expect(await readRefused(csv('a,b\n1,2\n\n3,"x\r\ny\n5,6\n'))).toEqual([
      'people.csv:4: a quote that opens in the row on this line never closes, expected a closing quote',
    ]);
  });

  it.each([
    ['quotes inside quotes', 'a,b\n1,2\n3,"he said "hi" to"\n', 'a quote stands inside the quotes of field 2'],
    ['text after a closing quote', 'a,b\n1,2\n3,"x"y\n', 'a quote stands inside the quotes of field 2'],
    [
      'a stray opening quote closed by a later row',
      'a,b\n1,2\n3,"x\n4,"y"\n',
      'a quote stands inside the quotes of field 2',
    ],
    [
      'a quote inside an unquoted field',
      'a,b\n1,2\n3,5" pipe\n',
      'a quote stands inside field 2, which is not in quotes',
    ],
    ['a blank before an opening quote', 'a,b\n1,2\n3, "x"\n', 'a quote stands inside field 2, which is not in quotes'],
  ])('%s', async (_title, content, reason) => {
    const [refusal, ...others] = await readRefused(csv(content));
    expect(refusal).toMatch(`people.csv:3: in the row that begins on this line ${reason}`);
    expect(others).toEqual([]);
  });

  it('swallows no good rows in silence when two stray quotes make a pair', async () => {
    const { cells, notices } = await readWhole(csv('id,name\n1,"Ann\n2,Bob\n3,Carol"\n4,Dan\n'));
    expect(cells).toHaveLength(2);
    expect(notices).toContain(
      'the row on line 2 holds a field of several lines that look like rows of their own: a quote may be missing',
    );
  });

  it('says nothing of an address over several lines', async () => {
    const { notices } = await readWhole(csv('id,address\n1,"Blk 1\nSingapore"\n2,"Blk 2\nBedok\nSingapore"\n'));
    expect(notices.filter((notice) => notice.includes('quote'))).toEqual([]);
  });
});

describe('CSV reader: header', () => {
  it('trims names, and allows columns without a name but says so', async () => {
    const { columns, cells, notices } = await readWhole(csv(' a ,,"b "\n1,2,3\n'));
    expect(columns).toEqual(['a', '', 'b']);
    expect(cells).toEqual([['1', '2', '3']]);
    expect(notices).toContain('columns without a name cannot be used: 2');
  });

  it('numbers names that stand twice, so that none is taken for the other, and says so', async () => {
    const { columns, cells, notices } = await readWhole(csv('a,b, a,A,b (1),b,a,,\n1,2,3,4,5,6,7,8,9\n'));
    expect(columns).toEqual(['a (1)', 'b (2)', 'a (2)', 'A', 'b (1)', 'b (3)', 'a (3)', '', '']);
    expect(cells).toEqual([['1', '2', '3', '4', '5', '6', '7', '8', '9']]);
    expect(notices).toContain('columns 1, 3 and 7 have the same name and are numbered: a (1), a (2), a (3)');
    expect(notices).toContain('columns 2 and 6 have the same name and are numbered: b (2), b (3)');
  });

  it('refuses names that are forbidden, and those without a letter that stand twice, all at once', async () => {
    expect(await readRefused(csv('\na,1,a,__proto__,constructor,prototype,1\n1\n'))).toEqual([
      'people.csv:2: column 4 is named __proto__, expected another name',
      'people.csv:2: column 5 is named constructor, expected another name',
      'people.csv:2: column 6 is named prototype, expected another name',
      'people.csv:2: columns 2 and 7 have the same name, expected each name once',
    ]);
  });

  it('refuses too many columns', async () => {
    const header = Array.from({ length: 100_000 }, (_, index) => `c${index}`).join(',');
    expect(await readRefused(csv(`${header}\n`))).toEqual([
      'people.csv:1: the header has 100000 columns, expected at most 1000',
    ]);
  });

  it('reads a file of a header alone as no rows, and says so', async () => {
    const { records, notices } = await readWhole(csv('a,b\n'));
    expect(records).toEqual([]);
    expect(notices).toContain('it holds a header and no rows');
  });

  it('refuses an empty file, and one of blank lines alone', async () => {
    expect(await readRefused(csv(''))).toEqual(['people.csv: the file is empty, expected rows']);
    expect(await readRefused(csv('\n,,\n \n'))).toEqual([
      'people.csv: it holds only blank lines, expected at least a header',
    ]);
    expect(await readRefused(csv('\uFEFF'))).toEqual([
      'people.csv: it holds only blank lines, expected at least a header',
    ]);
  });
});

describe('CSV reader: titles above the header', () => {
  it.each([
    ['Customers of May\nname;mobile\nAnn;1\n', {}],
    ['"Customers; of ""May"""\n\nname;mobile\nAnn;1\n', {}],
    ['Customers, of May;;\n;;\nname;mobile\nAnn;1\n', {}],
    ['sep=;\nCustomers, of May\nname;mobile\nAnn;1\n', {}],
    ['Customers, of May\nname;mobile\nAnn;1\n', { delimiter: ';' as const }],
  ])('are skipped, and said: %j', async (content, stated) => {
    const { columns, cells, lines, records, notices } = await readWhole(csv(content), anInput(stated));
    const line = content.split('\n').indexOf('Ann;1') + 1;
    expect({ columns, cells, lines }).toEqual({ columns: ['name', 'mobile'], cells: [['Ann', '1']], lines: [line] });
    expect(records.map(({ row }) => row)).toEqual([1]);
    expect(notices).toContainEqual(expect.stringMatching(/^skipped 1 row above the header: "Customers/));
  });

  it('may be several, up to 19', async () => {
    const titled = (count: number) => csv(`${'A title\n'.repeat(count)}name,mobile\nAnn,1\n`);
    const { columns, lines, notices } = await readWhole(titled(19));
    expect({ columns, lines }).toEqual({ columns: ['name', 'mobile'], lines: [21] });
    expect(notices).toContainEqual(expect.stringMatching(/^skipped 19 rows above the header: "A title", "A title"/));
    expect((await readWhole(titled(20))).columns).toEqual(['A title']);
  });

  it.each([
    ['mobile\n+6591234567\nAnn,1\n', ['mobile']],
    ['mobile\n+6591234567,Ann\n', ['mobile']],
    ['email\nAnn;ann@example.com\n', ['email']],
    ['mobile;;\n0151 2345678;Ann;\n', ['mobile', '', '']],
    ['name,mobile\nA; B,1\n', ['name', 'mobile']],
    ['mobile\nAnn\n', ['mobile']],
  ])('are none where no row below can name columns: %j', async (content, columns) => {
    expect((await readWhole(csv(content))).columns).toEqual(columns);
  });
});

describe('CSV reader: a file that Volley wrote', () => {
  it('omits the columns that we added, and takes off the apostrophes that we put there', async () => {
    const { columns, cells, notices } = await readWhole(
      csv("mobile,note,_step,_file,_line,_row,_reason\n+6591234567,'=1,1,a.csv,2,1,'-x\n'Ann,''=2,1,a.csv,3,2,\n"),
    );
    expect(columns).toEqual(['mobile', 'note']);
    expect(cells).toEqual([
      ['+6591234567', '=1'],
      ["'Ann", "'=2"],
    ]);
    expect(notices).toContain('ignored 5 columns added by Volley');
  });

  it('leaves columns and cells alone in a file that is not ours', async () => {
    const { columns, cells } = await readWhole(csv("mobile,step,_other\n'=1,2,3\n"));
    expect(columns).toEqual(['mobile', 'step', '_other']);
    expect(cells).toEqual([["'=1", '2', '3']]);
  });

  it('still knows a row that is too short', async () => {
    const { cells, faults } = await readWhole(csv('mobile,_step,_file,_line,_row\n1,2\n'));
    expect(cells).toEqual([['1']]);
    expect(faults).toEqual(['too-few-fields']);
  });
});

describe('CSV reader: delimiter', () => {
  it.each([
    [',', 'a,"b;c;d",e\n1,2,3\n', '","'],
    [';', 'a;b,c;d\n1;2;3\n', '";"'],
    ['\t', 'a\tb\n1\t2\n', 'tab'],
    ['|', '\n||\n"a|""|,,,"|b\n1|2\n', '"|"'],
    [';', '""\na;b;c\n1;2;3\n', '";"'],
    ['\t', '""\t""\r\n"\n"\t""\r\na\tb\n1\t2\n', 'tab'],
    [';', '\u00a0;\u00a0;;\na;b\n1;2\n', '";"'],
    [';', '" ""x"",,,";é\n1;2\n', '";"'],
    ['|', 'é|ß\n1|2\n', '"|"'],
  ])('%j is found from the header, and said', async (_delimiter, content, name) => {
    const { faults, notices } = await readWhole(csv(content));
    expect(faults).toEqual([undefined]);
    expect(notices[0]).toBe(`the delimiter is ${name}, found from the header`);
  });

  it.each([
    ['sep=;\na,b;c\n1;2\n', '";"'],
    ['SEP=;\r\n\r\na,b;c\r\n1;2\r\n', '";"'],
    ['"sep=;"\ra,b;c\r1;2\r', '";"'],
    ['\uFEFFsep=\t\na,b\tc\n1\t2\n', 'tab'],
    ['sep=|||\na,b|c\n1|2\n', '"|"'],
  ])('is what the first line says: %j', async (content, name) => {
    const { columns, cells, lines, notices } = await readWhole(csv(content));
    expect({ columns, cells }).toEqual({ columns: ['a,b', 'c'], cells: [['1', '2']] });
    expect(lines).toEqual([content.split(/\r\n|\r|\n/).length - 1]);
    expect(notices).toContain(`the delimiter is ${name}, as its first line says`);
  });

  it('that the first line says may be stated too, and no other', async () => {
    const content = 'sep=;\na;b\n1;2\n';
    expect((await readWhole(csv(content), anInput({ delimiter: ';' }))).cells).toEqual([['1', '2']]);
    expect(await readRefused(csv(content), anInput({ delimiter: ',' }))).toEqual([
      'people.csv:1: the first line says that the delimiter is ";", expected ",", as the job states',
    ]);
    expect(await readRefused(csv('sep=:\na:b\n'))).toEqual([
      'people.csv:1: the first line says that the delimiter is ":", expected "," ";" tab or "|"',
    ]);
    expect((await readWhole(csv('sep=x\n1\n'))).columns).toEqual(['sep=x']);
    expect(await readRefused(csv('sep=;'))).toEqual([
      'people.csv: it holds only blank lines, expected at least a header',
    ]);
  });

  it('goes by what is stated', async () => {
    const { columns, notices } = await readWhole(csv('a,b;c,d\n1;2\n'), anInput({ delimiter: ';' }));
    expect(columns).toEqual(['a,b', 'c,d']);
    expect(notices[0]).toBe('the delimiter is ";", as stated');
  });

  it('is no question in a header of one column', async () => {
    const { cells, notices } = await readWhole(csv('mobile\n+6591234567\n'));
    expect(cells).toEqual([['+6591234567']]);
    expect(notices[0]).toBe('the header has one column, so no delimiter was found in it');
  });

  it('is never guessed: two that stand equally often are a refusal', async () => {
    expect(await readRefused(csv('a,b;c\n'))).toEqual([
      'people.csv:1: the header has as many "," as ";", expected one delimiter',
    ]);
    expect(await readRefused(csv('\r\n""\r\na,b;c\r\n'))).toEqual([
      'people.csv:3: the header has as many "," as ";", expected one delimiter',
    ]);
  });
});
