import { type ChildProcess, spawn } from 'node:child_process';

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
}

/** One process of the built command, from its start to its end, with what it has said so far. */
export class Life {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #isOver = false;

  constructor(command: string, args: readonly string[], { cwd, env, stdin, nodeArguments = [] }: Spawning) {
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
      child.on('close', (code, signal) => {
        this.#isOver = true;
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** False when the process has ended already. */
  signal(name: NodeJS.Signals): boolean {
    return this.#child.kill(name);
  }
}

/** Looks every millisecond; false when it did not come to it in time, or the process ended before. */
export async function waitFor(life: Life, isSo: () => boolean, { timeoutMs }: { timeoutMs: number }): Promise<boolean> {
  const untilMs = performance.now() + timeoutMs;
  while (!isSo()) {
    if (life.isOver || performance.now() > untilMs) return false;
    await sleep(1);
  }
  return true;
}

export function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
