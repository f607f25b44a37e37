import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { listInputs } from '../../src/input/inputs.js';
import { aDirectory, refusalOf } from './builders.js';

const root = aDirectory();
let home: string;

const at = (path: string) => join(home, path);
const write = (...paths: string[]) => {
  for (const path of paths) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), 'a\n1\n');
  }
};
const list = (...patterns: string[]) => listInputs(patterns.map(at), at('jobs'));
const shown = async (...patterns: string[]) => (await list(...patterns)).map((file) => file.shown);

beforeEach(() => {
  home = mkdtempSync(join(root, 'home-'));
  mkdirSync(at('jobs'));
});

describe('listInputs', () => {
  it('shows paths relative to the job file, with forward slashes', async () => {
    write('samples/b.csv');
    expect(await list('samples/b.csv')).toEqual([
      { path: at('samples/b.csv'), shown: '../samples/b.csv', format: 'csv' },
    ]);
  });

  it('takes .ndjson, .jsonl and .json for NDJSON, .xlsx for a workbook, and all else for CSV', async () => {
    write('a.ndjson', 'b.jsonl', 'c.json', 'd.JSON.gz', 'e.xlsx', 'f.txt', 'g.jsons');
    const formats = (await list('*.*')).map(({ format }) => format);
    expect(formats).toEqual(['ndjson', 'ndjson', 'ndjson', 'ndjson', 'xlsx', 'csv', 'csv']);
  });

  it('gives each file once, sorted by path, whatever the order of the patterns', async () => {
    write('b.csv', 'a.csv', 'Z.csv', 'a.ndjson');
    const expected = ['../Z.csv', '../a.csv', '../a.ndjson', '../b.csv'];
    expect(await shown('b.csv', '*.csv', '{a,b}.csv', 'a.ndjson')).toEqual(expected);
  });

  it.each([
    ['a.csv', 'csv'],
    ['a.txt', 'csv'],
    ['a.csv.gz', 'csv'],
    ['a.ndjson', 'ndjson'],
    ['a.JSONL', 'ndjson'],
    ['a.ndjson.gz', 'ndjson'],
    ['a.ndjson.csv', 'csv'],
  ])('takes %s for %s by its name', async (name, format) => {
    write(name);
    expect((await list(name))[0]?.format).toBe(format);
  });

  it('searches directories below with **, and passes directories over', async () => {
    write('in/a.csv', 'in/2026/b.csv', 'in/2026/c.csv/d.csv', 'in/.hidden.csv');
    expect(await shown('in/**/*.csv')).toEqual(['../in/2026/b.csv', '../in/2026/c.csv/d.csv', '../in/a.csv']);
  });

  it('takes the name of a file or directory that is there as it is, though it holds characters of a pattern', async () => {
    write('a(b)[c]/x.csv', 'a(b)[c]/{y}.csv');
    expect(await shown('a(b)[c]/*.csv')).toEqual(['../a(b)[c]/x.csv', '../a(b)[c]/{y}.csv']);
    expect(await shown('a(b)[c]/{y}.csv')).toEqual(['../a(b)[c]/{y}.csv']);
  });

  it('follows links and shows the path of the link', async () => {
    write('..data/x.csv');
    symlinkSync(at('..data/x.csv'), at('x.csv'));
    expect(await shown('*.csv')).toEqual(['../x.csv']);
  });

  it('refuses all that names nothing or no file, at once', async () => {
    mkdirSync(at('dir.csv'));
    symlinkSync('loop.csv', at('loop.csv'));
    execFileSync('mkfifo', [at('pipe.csv')]);
    const refusal = await refusalOf(list('none.csv', 'n*.csv', 'dir.csv', 'pipe.csv', 'loop.csv', 'dir.csv/a/b.csv'));
    expect(refusal).toEqual([
      '../none.csv: there is no such file, expected a file that can be read',
      '../n*.csv: the pattern matches no file, expected at least one',
      '../dir.csv: it is a directory, expected a file that can be read',
      '../pipe.csv: it is a pipe, expected a file that can be read',
      '../loop.csv: it is a symbolic link that points back to itself, expected a file that can be read',
      '../dir.csv/a/b.csv: there is no such file, expected a file that can be read',
    ]);
  });

  it('lets a pattern fit no file where that is allowed, as long as its directory is there', async () => {
    mkdirSync(at('inbox'));
    const empty: string[] = [];
    const allow = (shown: string) => empty.push(shown);
    expect(await listInputs([at('inbox/*.csv')], at('.'), allow)).toEqual([]);
    expect(empty).toEqual(['inbox/*.csv']);
    expect(await refusalOf(listInputs([at('inbux/*.csv')], at('.'), allow))).toEqual([
      'inbux: there is no such file, expected a directory that can be searched',
    ]);
  });

  it('refuses a device', async () => {
    expect(await refusalOf(listInputs(['/dev/null'], '/dev'))).toEqual([
      'null: it is not a regular file, expected a file that can be read',
    ]);
  });

  it('refuses a broken link and a pipe that fit a pattern, instead of passing them over', async () => {
    write('a.csv');
    symlinkSync('gone', at('b.csv'));
    execFileSync('mkfifo', [at('c.csv')]);
    expect(await refusalOf(list('*.csv'))).toEqual([
      '../b.csv: there is no such file, expected a file that can be read',
      '../c.csv: it is a pipe, expected a file that can be read',
    ]);
  });

  it('refuses a file that may not be read, and a directory that may not be searched', async () => {
    write('in/a.csv', 'in/closed/b.csv');
    chmodSync(at('in/a.csv'), 0);
    chmodSync(at('in/closed'), 0);
    for (const path of [root, home]) chmodSync(path, 0o755);
    const refusal = await asOrdinaryUser(() => refusalOf(list('in/**/*.csv')));
    chmodSync(at('in/closed'), 0o700);
    expect(refusal).toEqual([
      '../in/closed: this user has no permission to read it, expected a directory that can be searched',
      '../in/a.csv: this user has no permission to read it, expected a file that can be read',
    ]);
  });

  it('lists nothing for no pattern', async () => {
    expect(await list()).toEqual([]);
  });
});

/** Nothing is closed to root: as root, the task runs as `nobody`. */
async function asOrdinaryUser<T>(task: () => Promise<T>): Promise<T> {
  const user = process.geteuid?.();
  if (user !== 0) return await task();
  process.seteuid?.(65534);
  try {
    return await task();
  } finally {
    process.seteuid?.(user);
  }
}
