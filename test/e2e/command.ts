import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';

/** The built command; `npm test` builds it first. */
export const COMMAND: string = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface Ended {
  /** Null when a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Spawning {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  /** Arguments of node itself. */
  readonly nodeArguments?: readonly string[];
  /** Another copy of the command. */
  readonly command?: string;
}

/** The command under way, with what it has said so far. */
export class Running {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor(args: readonly string[], { cwd, env, stdin, nodeArguments = [], command = COMMAND }: Spawning) {
    const child = spawn(process.execPath, [...nodeArguments, command, ...args], { cwd, env, stdio: 'pipe' });
    this.#child = child;
    child.stdout.setEncoding('utf8').on('data', (text) => {
      this.#stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text;
    });
    // A command that refuses before it reads its input closes the pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr }));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Does nothing to a process that has ended. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Of stdout. */
  async firstLine(): Promise<string> {
    await until(() => this.#stdout.includes('\n'));
    return this.#stdout.split('\n', 1)[0] ?? '';
  }

  /** What the first group of the pattern holds, once stderr matches it. */
  async finds(pattern: RegExp): Promise<string> {
    await until(() => pattern.test(this.#stderr));
    return pattern.exec(this.#stderr)?.[1] ?? '';
  }

  async says(text: string): Promise<void> {
    await until(() => this.#stderr.includes(text));
  }
}

/** Resolves as soon as it is so; tests wait for what happens, never for time. */
export async function until(isSo: () => boolean): Promise<void> {
  await vi.waitFor(
    () => {
      if (!isSo()) throw new Error('It never came to what the test waits for');
    },
    { interval: 2, timeout: 60_000 },
  );
}
