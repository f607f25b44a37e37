import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

interface Start {
  readonly code: number | null;
  readonly said: string;
}

/** A checkout with a handful of sources, which says its version in each part that it loads. It is built by the build of this checkout. */
class BuildTree {
  readonly root: string = mkdtempSync(join(tmpdir(), 'volley-build-'));

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
  async build(version: string): Promise<void> {
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
    for (const name of ['library', 'input/fast/csv-thread', 'input/fast/threaded-csv']) {
      this.write(`src/${name}.ts`, `export const version: string = '${version}';\n`);
    }
    this.write('src/proof/verify.mjs', '// Copied as it is.\n');
    await this.runBuild();
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

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

const tree = new BuildTree();
afterAll(() => tree.remove());

const chunksOf = () => tree.list().filter((name) => name.startsWith('chunks'));
const currentChunks = () => /chunks-[0-9a-f]{16}/.exec(readFileSync(tree.path('dist/cli.js'), 'utf8'))?.[0] ?? '';

/** One after the other, in one tree: what a test builds, the next one replaces. */
describe('a build', () => {
  test('while 12 processes and more start: each finds all of its parts, of one version', async () => {
    await tree.build('1');
    const starts: Start[] = [];
    let isBuilding = true;
    const building = (async () => {
      for (const version of ['2', '3']) await tree.build(version);
      isBuilding = false;
    })();
    while (isBuilding || starts.length < 12)
      starts.push(...(await Promise.all([tree.start().end(), tree.start().end()])));
    await building;

    const wrong = starts.filter(({ code, said }) => code !== 0 || !/^(\d) \1 \1$/.test(said));
    expect(wrong).toEqual([]);
    expect((await tree.start().end()).said).toBe('3 3 3');
  });

  test('takes nothing from a process that started before, and loads a part of itself afterwards', async () => {
    const before = tree.start();
    expect(await before.saidSoFar).toBe('3 3');
    await tree.build('new');
    expect(await before.end()).toEqual({ code: 0, said: '3 3 3' });
  });

  test('leaves nothing beside dist/, and the same sources give the same files', async () => {
    const name = currentChunks();
    await tree.build('new');
    expect(currentChunks()).toBe(name);
    expect(tree.list('.').filter((each) => each.startsWith('.dist'))).toEqual([]);
  });

  test('clears away what was replaced more than a day ago, and types of sources that are gone', async () => {
    const first = currentChunks();
    tree.write('src/gone.ts', 'export const gone = 1;\n');
    await tree.build('a');
    const second = currentChunks();
    expect(chunksOf()).toEqual(expect.arrayContaining([first, second]));
    expect(tree.list()).toContain('gone.d.ts');
    rmSync(tree.path('src/gone.ts'));
    const longAgo = new Date(Date.now() - 25 * 3_600_000);
    // The present one is old, too: how long it is kept counts from when it is replaced.
    for (const name of chunksOf()) utimesSync(tree.path(`dist/${name}`), longAgo, longAgo);

    await tree.build('b');

    expect(chunksOf().sort()).toEqual([second, currentChunks()].sort());
    expect(tree.list()).not.toContain('gone.d.ts');
  });

  test('that fails says why, and leaves what was built before', async () => {
    const before = readFileSync(tree.path('dist/cli.js'), 'utf8');
    tree.write('src/wrong.ts', 'export const wrong: number = "text";\n');
    const { code, stderr } = await tree.runBuild();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/wrong\.ts.*TS2322.*\nCannot build: /s)]);
    expect(readFileSync(tree.path('dist/cli.js'), 'utf8')).toBe(before);
    expect((await tree.start().end()).said).toBe('b b b');
  });

  test('knows the commit of its sources: as it is given, or as git says of this directory', async () => {
    rmSync(tree.path('src/wrong.ts'));
    const said = async (revision?: string) => {
      tree.write(
        'src/library.ts',
        'declare const VOLLEY_REVISION: string;\nexport const revision: string = VOLLEY_REVISION;\n',
      );
      await tree.runBuild(revision);
      return (await import(`${tree.path('dist/library.js')}?${Math.random()}`)).revision;
    };
    const git = (...args: string[]) =>
      String(
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: tree.root }),
      ).trim();

    expect(await said('1234abc')).toBe('1234abc');
    expect(await tree.runBuild('1; rm')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('VOLLEY_REVISION is not'),
    });
    git('init', '-q');
    git('add', 'src');
    git('commit', '-qm', 'all');
    const head = git('rev-parse', 'HEAD');
    expect(await said()).toBe(head);
    tree.write('src/first.ts', "export const first = 'changed';\n");
    expect(await said()).toBe(`${head}+changes`);
  });
});
