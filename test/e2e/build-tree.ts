import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

export interface Start {
  readonly code: number | null;
  readonly said: string;
}

/** A checkout with a handful of sources, which says its version in each part that it loads. It is built by the build of this checkout. */
export class BuildTree {
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
