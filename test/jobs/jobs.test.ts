import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadJob } from '../../src/job/load.js';
import { ROOT } from './dockerfile.js';

const jobs = readdirSync(`${ROOT}jobs`).filter((name) => name.endsWith('.yaml'));

describe.each(jobs)('jobs/%s', (name) => {
  test('is a job that Volley takes, named like its file, or like the first of the jobs that it resumes', async () => {
    const job = await loadJob(`${ROOT}jobs/${name}`);

    expect([name, jobs.find((first) => name.startsWith(`${first.replace('.yaml', '')}-`))]).toContain(
      `${job.name}.yaml`,
    );
    expect(job.output.directory).toBe(`${ROOT}out`);
  });

  test('names its schema in the first line, for editors', () => {
    const [first] = readFileSync(`${ROOT}jobs/${name}`, 'utf8').split('\n');

    expect(first).toBe('# yaml-language-server: $schema=./job.schema.json');
    expect(existsSync(`${ROOT}jobs/job.schema.json`)).toBe(true);
  });

  test('is explained in jobs/README.md', () => {
    expect(readFileSync(`${ROOT}jobs/README.md`, 'utf8')).toContain(name);
  });
});

test('examples that have no key of their own speak to the sandbox', async () => {
  const loaded = await Promise.all(jobs.map((name) => loadJob(`${ROOT}jobs/${name}`)));

  expect(loaded.filter((job) => !job.service.sandbox).map((job) => job.name)).toEqual(['nightly']);
});
