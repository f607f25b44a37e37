import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { type Env, nodeEnv } from '../../src/command/env.js';
import type { Terminal } from '../../src/command/terminal.js';
import { InternalError } from '../../src/domain/errors.js';
import { runCommandLine } from '../../src/verbs/command-line.js';
import { COMMAND, until } from '../e2e/command.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** Of no process: Linux has none beyond 4,194,304. */
let lastPid = 5_000_000;

/** `volley console` in this process. What it starts runs here as well, one command after the other, and cannot be stopped. */
export class ConsoleInProcess {
  readonly ended: Promise<{ code: number }>;
  readonly #env: Variables;
  readonly #alive = new Set<number>();
  readonly #listeners = new Set<(signal: string) => void>();
  #said = '';

  constructor(args: readonly string[], directory: string, env: Variables) {
    this.#env = env;
    const runtime: Env = {
      ...nodeEnv,
      owner: { ...nodeEnv.owner, instance: randomUUID() },
      isProcessAlive: (pid) => this.#alive.has(pid) || nodeEnv.isProcessAlive(pid),
      spawn: (...started) => this.#spawn(...started),
    };
    const terminal: Terminal = {
      env,
      stdin: Readable.from([]),
      isStdoutTerminal: false,
      isStderrTerminal: false,
      screen: { columns: 80, directory, command: `node ${COMMAND}` },
      writeStdout: async (text) => {
        this.#said += text;
      },
      writeStderr: () => {},
      onSignal: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      leave: (_exitCode, { message }) => {
        throw new InternalError('unexpected', message);
      },
      runtime,
    };
    this.ended = runCommandLine(args, terminal, 100).then((code) => ({ code }));
  }

  async firstLine(): Promise<string> {
    await until(() => this.#said.includes('\n'));
    return this.#said.split('\n', 1)[0] ?? '';
  }

  signal(name: NodeJS.Signals): void {
    for (const listener of this.#listeners) listener(name);
  }

  #spawn(args: readonly string[], { cwd, env = {}, stdio }: SpawnOptions): ChildProcess {
    const stdout = new PassThrough();
    const pid = ++lastPid;
    const child = Object.assign(new EventEmitter(), { pid, stdout, ref: () => {}, unref: () => {} });
    const [, out, log] = Array.isArray(stdio) ? stdio : [];
    const files = [out, log].map((fd) => (typeof fd === 'number' ? openSync(`/proc/self/fd/${fd}`, 'w') : undefined));
    this.#alive.add(pid);
    process.nextTick(() => child.emit('spawn'));
    const { VOLLEY_ACTOR: actor = this.#env.VOLLEY_ACTOR } = env;
    const given = { cwd: String(cwd), env: { ...this.#env, ...(actor === undefined ? {} : { VOLLEY_ACTOR: actor }) } };
    void runCommandInProcess(args, given).then((ended) => {
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
