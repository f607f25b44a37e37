import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadJob } from '../../src/job/load.js';
import { EXIT } from '../../src/report/exit-code.js';
import type { Summary } from '../../src/report/summary.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { aFolder } from '../plan/a-plan.js';
import { listNames, ROOT, readPage, readRows, readSection } from './page.js';

const README = readPage('README.md');
const rowsUnder = (heading: string) => readRows(readSection(README, heading));

test('README begins with the two commands that need nothing but Node, one line each', () => {
  const [first, second] = README.blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);

  expect([first, second]).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n']);
  expect(README.text.indexOf('npm ci && npm start')).toBeLessThan(README.text.indexOf('\n## '));
});

test('README is short enough to be read', () => {
  expect(README.text.split('\n').length).toBeLessThanOrEqual(250);
});

test('README names every verb of the command once, and no other', async () => {
  const { stdout: help } = await runCommandInProcess(['--help'], { cwd: ROOT, env: {} });
  const verbs = [...help.matchAll(/^ {2}volley (\w+)/gm)].map(([, verb]) => verb);

  const named = rowsUnder('Commands').map(([command = '']) => /^`volley ([a-z]+)/.exec(command)?.[1]);

  expect(verbs).toContain('run');
  expect(named.toSorted()).toEqual(verbs.toSorted());
});

test('README explains every exit code, once', () => {
  expect(rowsUnder('Exit codes').map(([code]) => Number(code))).toEqual(Object.values(EXIT).toSorted((a, b) => a - b));
});

test('README installs the version that package.json has', () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const written = [...README.text.matchAll(/volley[-:](\d+\.\d+\.\d+)/g)].map(([, number]) => number);

  expect(written.length).toBeGreaterThan(1);
  expect(new Set(written)).toEqual(new Set([version]));
});

describe('the first job of README', () => {
  const yaml = README.blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text);
  const [job, fixedInput, realService] = yaml as [string, string, string];
  const people = README.blocks.find(({ language }) => language === 'csv')!.text;

  test('ends as README says: a rejected row, and once it is fixed, that row alone', async () => {
    const path = useDirectory({ 'first.yaml': job, 'people.csv': people });
    const run = () => volley('run', path('first.yaml'), '--json');

    const first = await run();
    const rejections = readFileSync(join(first.summary.directory, '1-sms.rejections.csv'), 'utf8');
    writeFileSync(path('fixed.csv'), rejections.replace('6.59123E+09', '98765432'));
    writeFileSync(path('first.yaml'), job.replace(/^ +input:.*\n/m, fixedInput));
    const second = await run();

    expect([first.code, second.code]).toEqual([EXIT.rejected, EXIT.ok]);
    expect(first.summary.balance).toMatchObject({ read: 4, accepted: 3, rejected: 1 });
    expect(rejections).toContain('spreadsheet-number');
    expect(second.summary.balance).toMatchObject({ read: 1, accepted: 1 });
  });

  test('is a job for the real service with the lines that README gives', async () => {
    const path = useDirectory({ 'first.yaml': `${realService}${job.slice(job.indexOf('steps:'))}` });

    const { service } = await loadJob(path('first.yaml'));

    expect(service).toMatchObject({ sandbox: false, account: 'acme', subAccountId: 'acme_hq' });
  });
});

describe('src/README.md on package.json', () => {
  const page = readPage('src/README.md');
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const dependencies: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies };
  const reasons = readRows(readSection(page, 'Why each dependency'));

  test('gives a reason for every dependency, and for no other', () => {
    expect(reasons.flatMap(([names = '']) => names.split(', ')).sort()).toEqual(Object.keys(dependencies).sort());
  });

  test('says the version of each that is pinned, and why', () => {
    const pinned = Object.entries(dependencies).filter(([, version]) => /^\d/.test(version));
    const explained = reasons.flatMap(([name, reason = '']) => {
      const version = /\*\*([\d.]+)\*\*: \w/.exec(reason)?.[1];
      return version === undefined ? [] : [[name, version]];
    });

    expect(explained.sort()).toEqual(pinned.sort());
  });

  test('names every script that a person gives', () => {
    const scripts = Object.keys(manifest.scripts).filter((name) => !name.startsWith('pre'));
    const named = readRows(readSection(page, 'Scripts')).flatMap(([names = '']) => listNames(names));

    expect(named.map((name) => name.replace(/^npm (run )?/, '')).sort()).toEqual(scripts.sort());
  });
});

/** A directory with these files, gone when the test is over; gives the path of a file in it. */
function useDirectory(files: Readonly<Record<string, string>>): (name: string) => string {
  const directory = aFolder(files);
  return (name) => join(directory, name);
}

/** The command with its exit code, and what it printed as JSON. */
async function volley(...args: string[]): Promise<{ code: number | null; summary: Summary }> {
  const { code, stdout } = await runCommandInProcess(args, { cwd: ROOT, env: {} });
  return { code, summary: JSON.parse(stdout) };
}
