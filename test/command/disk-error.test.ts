import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import {
  type DiskPlace,
  describeDisk,
  exitCodeOfDisk,
  placeDiskError,
  placeInRun,
} from '../../src/command/disk-error.js';
import { UserError } from '../../src/domain/errors.js';

const PLACES: readonly DiskPlace[] = ['given', 'output', 'job', 'run', 'unknown'];
/** In the order of the places: what a person did, or what a machine may do better the next time. */
const PERSON = [2, 2, 2, 4, 4];
const MACHINE = [75, 75, 75, 75, 75];
const ENDS: Readonly<Record<string, readonly number[]>> = {
  ...Object.fromEntries(
    'ENOENT ENOTDIR EISDIR EEXIST ENOTEMPTY ELOOP ENAMETOOLONG EINVAL ENOTSUP EACCES EPERM'
      .split(' ')
      .map((code) => [code, PERSON]),
  ),
  EROFS: [2, 2, 75, 75, 75],
};

test('every error that a system knows ends with 2, 4 or 75 at every place', () => {
  const codes = [...new Set([...Object.keys(constants.errno), 'ENEW'])];
  expect(codes.length).toBeGreaterThan(60);
  for (const code of codes) {
    expect([code, PLACES.map((place) => exitCodeOfDisk({ code, place }))]).toEqual([code, ENDS[code] ?? MACHINE]);
  }
});

test('one whose place no one noted counts as that of an unknown place', () => {
  expect(exitCodeOfDisk({ code: 'ENOENT' })).toBe(4);
  expect(exitCodeOfDisk({ code: 'EMFILE' })).toBe(75);
});

describe('the place of an error', () => {
  const placed = (path: string | undefined, jobDirectory: string | undefined) => {
    const error = Object.assign(new Error('ENOENT'), {
      code: 'ENOENT',
      syscall: 'open',
      ...(path === undefined ? {} : { path }),
    });
    placeDiskError(error, jobDirectory);
    return Reflect.get(error, 'place');
  };

  test.each([
    ['/out', 'output'],
    ['/', 'output'],
    ['/out/sale', 'job'],
    ['/out/sale/lock-000001.json', 'job'],
    ['/out/sale/.k3v-7.part/1-sms.rows.ndjson', 'job'],
    ['/out/sale/k3v9/plan.json', 'run'],
    ['/in/people.csv', 'given'],
    ['/out/sale-of-others/x', 'given'],
    [undefined, undefined],
  ])('%s is %s', (path, place) => {
    expect(placed(path, '/out/sale')).toBe(place);
  });

  test('is that of what failed first, where something could not be closed either', () => {
    const first = new UserError('bad-input', 'the list is damaged');
    placeInRun(Object.assign(new Error('EIO'), { suppressed: first }));
    expect(first.isInRun).toBe(true);
  });

  test('is one that a person gave where the working directory was removed, which has no path any more', () => {
    const error = Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'uv_cwd' });
    expect(exitCodeOfDisk(error)).toBe(2);
    const message = 'Cannot use the working directory: no such file or directory (ENOENT, uv_cwd)';
    expect(describeDisk(error)).toEqual({ message, hint: expect.stringContaining('Check the path') });
  });

  test('is one that a person gave before there is a job', () => {
    expect(placed('/out/sale', undefined)).toBe('given');
  });
});

test('the words name the path, what the system says, and what to do', () => {
  const error = (code: string, syscall: string, path: string, place: DiskPlace) =>
    describeDisk(Object.assign(new Error(''), { code, syscall, path, place }));
  expect(error('EACCES', 'mkdir', '/out/sale', 'output')).toEqual({
    message: 'Cannot use /out/sale: permission denied (EACCES, mkdir)',
    hint: expect.stringContaining('See that it is a directory in which this user may write'),
  });
  const hints: readonly [code: string, path: string, place: DiskPlace, hint: string][] = [
    // Another user ran the job once.
    ['EACCES', 'lock-000003.json', 'job', 'permission to read and write /out/sale and what is in it'],
    ['EROFS', 'lock-000003.json', 'job', 'so that it can be written to'],
    ['ENOSPC', 'k3/journal.ndjson', 'run', 'run the same command to resume'],
    ['EFBIG', 'k3/journal.ndjson', 'run', 'ulimit -f'],
    ['EDQUOT', 'k3/journal.ndjson', 'run', 'allow more by the quota'],
    ['ESTALE', 'k3/journal.ndjson', 'run', 'Mount the volume again'],
    ['ENOENT', 'k3/1-sms.rows.ndjson', 'run', 'put 1-sms.rows.ndjson back'],
    ['EACCES', 'k3/1-sms.results.csv.1.part', 'run', 'permission to read and write /out/sale/k3 and'],
  ];
  for (const [code, path, place, hint] of hints)
    expect(error(code, 'open', `/out/sale/${path}`, place).hint).toContain(hint);
  expect(error('ENOENT', 'rename', '/out/sale/k3/1-sms.results.csv.1.part', 'run').hint).toContain(
    'Wait until the process',
  );
  expect(error('ENOTSUP', 'fsync', '/out/sale/lock-000001.json', 'job')).toEqual({
    message: 'Cannot use /out/sale/lock-000001.json: operation not supported (ENOTSUP, fsync)',
    hint: expect.stringContaining('Mount a file system there that can keep what it is given'),
  });
});

test.each<DiskPlace>(['given', 'output', 'job', 'run', 'unknown'])(
  'no advice on an error %s says that nothing was sent, which it cannot know',
  (place) => {
    for (const code of ['EACCES', 'EROFS', 'ENOSPC', 'ENOENT', 'ENOTDIR', 'EMFILE'])
      expect(
        describeDisk(Object.assign(new Error(''), { code, syscall: 'open', path: '/out/sale/x', place })).hint,
      ).not.toMatch(/othing was sent(?! without)/);
  },
);

test('the page repeats the table', () => {
  const page = readFileSync(new URL('../../jobs/reference/outputs-and-codes.md', import.meta.url), 'utf8');
  const rows: [DiskPlace, string][] = [
    ['given', 'a job, an input, a path that you gave'],
    ['output', 'the output directory, before it exists'],
    ['job', 'the directory of a job in it, and its lock'],
    ['run', 'a file of a run, or any path once its run has begun'],
  ];
  for (const [place, words] of rows) {
    const ends = ['EACCES', 'EROFS', 'ENOSPC'].map((code) => exitCodeOfDisk({ code, place }));
    expect(page).toContain(`| ${words} | ${ends.join(' | ')} |`);
  }
});
