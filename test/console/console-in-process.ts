import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { quoteWord } from '../../src/domain/errors.js';
import { runCommandLine } from '../../src/verbs/command-line.js';
import { aTerminal } from '../command/a-terminal.js';
import { COMMAND, until } from '../e2e/command.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** Of no process: Linux has none beyond 4,194,304. */
let lastPid = 5_000_000;

/** `volley console` in this process. What it starts runs here as well, one command after the other, and cannot be stopped. */
export class ConsoleInProcess {
  readonly ended: Promise<{ code: number }>;
  readonly #at: ReturnType<typeof aTerminal>;
  readonly #alive = new Set<number>();

  constructor(args: readonly string[], directory: string, env: Variables) {
    this.#at = aTerminal({ env, isStderrTerminal: false });
    const runtime: Env = {
      ...nodeEnv,
      owner: { ...nodeEnv.owner, instance: randomUUID() },
      isProcessAlive: (pid) => this.#alive.has(pid) || nodeEnv.isProcessAlive(pid),
      spawn: (...started) => this.#spawn(...started),
    };
    const screen = { columns: 80, directory, command: `node ${quoteWord(COMMAND)}` };
    this.ended = runCommandLine(args, { ...this.#at.terminal, screen, runtime }, 100).then((code) => ({ code }));
  }

  async firstLine(): Promise<string> {
    const { said } = this.#at;
    await until(() => said.stdout.includes('\n'));
    return said.stdout.split('\n', 1)[0] ?? '';
  }

  signal(name: NodeJS.Signals): void {
    this.#at.signal(name);
  }

  #spawn(args: readonly string[], { cwd, env = {}, stdio }: SpawnOptions): ChildProcess {
    const stdout = new PassThrough();
    const pid = ++lastPid;
    const child = Object.assign(new EventEmitter(), { pid, stdout, ref: () => {}, unref: () => {} });
    const [, out, log] = Array.isArray(stdio) ? stdio : [];
    const files = [out, log].map((fd) => (typeof fd === 'number' ? openSync(`/proc/self/fd/${fd}`, 'w') : undefined));
    this.#alive.add(pid);
    process.nextTick(() => child.emit('spawn'));
    const own = this.#at.terminal.env;
    const { VOLLEY_ACTOR = own.VOLLEY_ACTOR ?? '' } = env;
    void runCommandInProcess(args, { cwd: String(cwd), env: { ...own, VOLLEY_ACTOR } }).then((ended) => {
      for (const [index, text] of [ended.stdout, ended.stderr].entries()) {
        const file = files[index];
        if (file === undefined) continue;
        writeSync(file, text);
        closeSync(file);
      }
      this.#alive.delete(pid);
      stdout.end(ended.stdout);
      child.emit('exit', ended.code);
      child.emit('close', ended.code);
    });
    return child as unknown as ChildProcess;
  }
}
