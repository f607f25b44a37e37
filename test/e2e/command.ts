import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, vi } from 'vitest';
import type { FailureError } from '../../src/command/failure.js';
import { type Ended, Life, type Spawning } from '../kill/life.js';

/** The built command; `npm test` builds it first. */
export const COMMAND: string = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export type { Ended } from '../kill/life.js';

export type Start = Spawning & {
  /** Another copy of the command. */
  readonly command?: string;
};

/** The command under way. */
export class Running extends Life {
  constructor(args: readonly string[], { command = COMMAND, ...spawning }: Start) {
    super(command, args, spawning);
  }

  /** Of stdout. */
  async firstLine(): Promise<string> {
    await until(() => this.stdout.includes('\n'));
    return this.stdout.split('\n', 1)[0] ?? '';
  }

  /** What the first group of the pattern holds, once stderr matches it. */
  async finds(pattern: RegExp): Promise<string> {
    await until(() => pattern.test(this.stderr));
    return pattern.exec(this.stderr)?.[1] ?? '';
  }

  async says(text: string): Promise<void> {
    await until(() => this.stderr.includes(text));
  }
}

/** What is on stdout of a command that ended without its result: one JSON object, on one line, that says the code it ended with. */
export function readFailure({ code, stdout, stderr }: Ended): { state: string; exitCode: number; error: FailureError } {
  expect(stdout, stderr).toMatch(/^\{.*\}\n$/);
  const failure = JSON.parse(stdout);
  const error = { code: expect.any(String), message: expect.stringMatching(/./), problems: expect.any(Array) };
  expect(failure).toMatchObject({ state: expect.stringMatching(/^(refused|stopped|failed)$/), exitCode: code, error });
  return failure;
}

/** The command in a directory, until the test is over. */
export function startUntilDone(
  args: readonly string[],
  { env, ...start }: Omit<Start, 'env'> & Partial<Pick<Start, 'env'>>,
): Running {
  const running = new Running(args, { ...start, env: { PATH: process.env.PATH ?? '', ...env } });
  onTestFinished(async () => {
    running.signal('SIGKILL');
    await running.ended;
  });
  return running;
}

/** Resolves as soon as it is so; tests wait for what happens, never for time. */
export async function until(isSo: () => boolean): Promise<void> {
  await vi.waitFor(
    () => {
      if (!isSo()) throw new Error('It never came to what the test waits for');
    },
    { interval: 10, timeout: 60_000 },
  );
}

/** Of what a command says: each command in backticks or on a line of its own, as the shell splits it. */
export function readCommands(said: string): string[][] {
  const command = String.raw`node (?:'[^']+cli\.js'|\S+cli\.js) `;
  const found = new RegExp(`\`(${command}[^\`]+)\`|^(?:.*: | {2})(${command}.+)$`, 'gm');
  const commands = [...said.matchAll(found)];
  return commands.map(([, quoted, alone]) =>
    execFileSync('sh', ['-c', `printf '%s\\n' ${quoted ?? alone}`], { encoding: 'utf8' })
      .trimEnd()
      .split('\n'),
  );
}
