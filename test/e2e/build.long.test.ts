import { execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { aFolder } from '../plan/a-plan.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

type Start = Readonly<{ code: number | null; said: string }>;

/** A checkout with a handful of sources, which says its version in each part that it loads. It is built by the build of this checkout. */
class BuildTree {
  readonly root: string = aFolder();

  constructor() {
    for (const name of ['.build.mjs', '.rolldown.cjs', 'package.json', 'tsconfig.json', 'src/tsconfig.json']) {
      cpSync(join(ROOT, name), join(this.root, name));
    }
    symlinkSync(join(ROOT, 'node_modules'), join(this.root, 'node_modules'));
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  /** The parts are loaded one after the other, the last once stdin has ended. */
  writeSources(version: string): void {
    for (const part of ['first', 'second', 'last']) {
      this.write(`src/${part}.ts`, `export const ${part} = '${version}';\n`);
    }
    this.write(
      'src/cli.ts',
      `const { first } = await import('./first.js');
const { second } = await import('./second.js');
process.stdout.write(first + ' ' + second);
for await (const _ of process.stdin);
const { last } = await import('./last.js');
process.stdout.write(' ' + last);
`,
    );
    for (const name of ['csv-thread', 'threaded-csv'])
      this.write(`src/input/fast/${name}.ts`, `export const version: string = '${version}';\n`);
    this.write(
      'src/library.ts',
      `declare const VOLLEY_REVISION: string;
export const revision: string = VOLLEY_REVISION;
export type { Shown } from './input/shown.js';
`,
    );
    this.write('src/input/shown.ts', "export type Shown = typeof import('../first.js').first;\n");
    this.write('src/proof/verify.mjs', '// Copied as it is.\n');
  }

  async build(version: string, revision?: string): Promise<void> {
    this.writeSources(version);
    const { code, stderr } = await this.runBuild(revision);
    if (code !== 0) throw new Error(stderr);
  }

  async runBuild(revision = ''): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { ...process.env, VOLLEY_REVISION: revision };
    return run(process.execPath, [this.path('.build.mjs')], { env }).then(
      (said) => ({ code: 0, ...said }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  }

  /** Starts what is built; `saidSoFar` resolves with its first words, `end` lets it come to its end. */
  start(): { saidSoFar: Promise<string>; end: () => Promise<Start> } {
    const child = spawn(process.execPath, [this.path('dist/cli.js')], { stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    const saidSoFar = new Promise<string>((resolve) => {
      child.stdout.on('data', (text) => {
        said += text;
        resolve(said);
      });
    });
    child.stderr.on('data', (text) => {
      said += text;
    });
    child.stdin.on('error', () => {});
    const ended = new Promise<Start>((resolve) => child.on('close', (code) => resolve({ code, said })));
    return {
      saidSoFar,
      end: () => {
        child.stdin.end();
        return ended;
      },
    };
  }

  /** Of dist/, and what is beside it. */
  list(directory = 'dist'): string[] {
    return readdirSync(this.path(directory)).sort();
  }
}

const tree = new BuildTree();

const chunksOf = () => tree.list().filter((name) => name.startsWith('chunks'));
const currentChunks = () => /chunks-[0-9a-f]{16}/.exec(readFileSync(tree.path('dist/cli.js'), 'utf8'))?.[0] ?? '';
const revision = async () => (await import(`${tree.path('dist/library.js')}?${Math.random()}`)).revision;
const git = (...args: string[]) => {
  const all = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args];
  return execFileSync('git', all, { cwd: tree.root, encoding: 'utf8' }).trim();
};

/** One after the other, in one tree: what a test builds, the next one replaces. */
describe('a build', () => {
  test('while 12 processes and more start: each finds all of its parts, of one version, also one that started before', async () => {
    await tree.build('1', '1234abc');
    expect(await revision()).toBe('1234abc');
    const before = tree.start();
    expect(await before.saidSoFar).toBe('1 1');
    tree.writeSources('2');
    git('init', '-q');
    git('add', 'src');
    git('commit', '-qm', 'all');
    const starts: Start[] = [];
    let isBuilding = true;
    const building = tree.build('2').finally(() => {
      isBuilding = false;
    });
    while (isBuilding || starts.length < 12)
      starts.push(...(await Promise.all([tree.start().end(), tree.start().end()])));
    await building;

    expect(starts.filter(({ code, said }) => code !== 0 || !/^(\d) \1 \1$/.test(said))).toEqual([]);
    expect((await tree.start().end()).said).toBe('2 2 2');
    expect(await before.end()).toEqual({ code: 0, said: '1 1 1' });
  });

  test('leaves nothing beside dist/, the same sources give the same files, and know the commit that git says', async () => {
    const name = currentChunks();
    expect(await revision()).toBe(git('rev-parse', 'HEAD'));
    await tree.build('2');
    expect(currentChunks()).toBe(name);
    expect(tree.list('.').filter((each) => each.startsWith('.dist'))).toEqual([]);
  });

  test('has the types that those of the library lead to, and no others', () => {
    const types = [...tree.list(), ...tree.list('dist/input')].filter((name) => name.endsWith('.d.ts'));
    expect(types.sort()).toEqual(['first.d.ts', 'library.d.ts', 'shown.d.ts']);
  });

  test('clears away what was replaced more than a day ago, and types of sources that are gone', async () => {
    const first = currentChunks();
    await tree.build('a');
    expect(await revision()).toBe(`${git('rev-parse', 'HEAD')}+changes`);
    tree.write('dist/gone.d.ts', 'export declare const gone = 1;\n');
    const second = currentChunks();
    expect(chunksOf()).toEqual(expect.arrayContaining([first, second]));
    const longAgo = new Date(Date.now() - 25 * 3_600_000);
    // The present one is old, too: how long it is kept counts from when it is replaced.
    for (const name of chunksOf()) utimesSync(tree.path(`dist/${name}`), longAgo, longAgo);

    await tree.build('b');

    expect(chunksOf().sort()).toEqual([second, currentChunks()].sort());
    expect(tree.list()).not.toContain('gone.d.ts');
  });

  test('that fails says why, and leaves what was built before', async () => {
    const before = readFileSync(tree.path('dist/cli.js'), 'utf8');
    const { code: refused, stderr: said } = await tree.runBuild('1; rm');
    expect([refused, said]).toEqual([1, expect.stringContaining('VOLLEY_REVISION is not')]);
    tree.write('src/wrong.ts', 'export const wrong: number = "text";\n');
    const { code, stderr } = await tree.runBuild();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/wrong\.ts.*TS2322.*\nCannot build: /s)]);
    expect(readFileSync(tree.path('dist/cli.js'), 'utf8')).toBe(before);
    expect((await tree.start().end()).said).toBe('b b b');
  });
});
