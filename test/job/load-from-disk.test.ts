import { memfs } from 'memfs';
import { describe, expect, test } from 'vitest';
import { loadJob } from '../../src/job/load.js';
import { createFiles, type RawFiles } from '../../src/storage/files.js';
import { aJobFile, inputOf } from './a-job-file.js';

describe('loadJob', () => {
  const disk = (tree: Record<string, string | null>) => {
    const { fs } = memfs(tree);
    return createFiles(fs.promises as unknown as RawFiles);
  };

  test('reads the file and resolves paths from where it stands', async () => {
    const job = await loadJob('/jobs/sale.yaml', disk({ '/jobs/sale.yaml': aJobFile() }));
    expect(inputOf(job).files).toEqual(['/jobs/people.csv']);
  });

  test('refuses a path where no file is', async () => {
    await expect(loadJob('/jobs/sale.yaml', disk({}))).rejects.toMatchObject({
      code: 'bad-job',
      message: 'Cannot read the job /jobs/sale.yaml: there is no such file, expected a YAML file',
    });
  });

  test('refuses a directory', async () => {
    await expect(loadJob('/jobs', disk({ '/jobs/sale.yaml': '' }))).rejects.toThrow('it is not a file');
  });

  test('refuses a file of more than 1 MiB without reading it', async () => {
    const files = disk({ '/big.yaml': 'a'.repeat(1024 * 1024 + 1) });
    const readText = () => Promise.reject(new Error('was read'));
    await expect(loadJob('/big.yaml', { stat: files.stat, readText })).rejects.toThrow('longer than 1 MiB');
  });

  test('refuses a file that the disk does not give', async () => {
    const failure = Object.assign(new Error('no'), { code: 'EACCES' });
    const stat = async () => ({
      bytes: 1,
      isFile: true,
      isDirectory: false,
      modifiedMs: 0,
      inode: 0,
      device: 0,
      bornMs: 0,
      changedMs: 0,
      mode: 0o600,
    });
    await expect(loadJob('/a.yaml', { stat, readText: () => Promise.reject(failure) })).rejects.toThrow(
      'Cannot read the job /a.yaml: the system reports EACCES',
    );
  });
});
