import { renameSync } from 'node:fs';
import type { Workspace } from './a-workspace.js';
import type { Running } from './command.js';

/** The clocks of a process are ahead by what stands in a file, its timers are not; and it may have lost its disk, but for what it has open. */
const MACHINE = `import { promises, readFileSync } from 'node:fs';
import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
os.hostname = () => process.env.MACHINE;
syncBuiltinESMExports();
const now = Date.now;
const monotonic = performance.now.bind(performance);
let read = { at: -Infinity };
const ahead = (clock) => {
  if (monotonic() > read.at + 5) read = { ...JSON.parse(readFileSync(new URL(process.env.MACHINE + '.json', import.meta.url), 'utf8')), at: monotonic() };
  return read[clock];
};
for (const name of ['open', 'readFile', 'readdir', 'stat', 'mkdir', 'rename', 'rm']) {
  const act = promises[name];
  promises[name] = async (path, ...more) => {
    if (String(path).startsWith(process.cwd()) && ahead('isCutOff') === true) throw Object.assign(new Error('ESTALE: stale file handle, ' + name), { code: 'ESTALE', syscall: name, path });
    return act(path, ...more);
  };
}
Date.now = () => now() + ahead('wallMs');
performance.now = () => monotonic() + ahead('passedMs');
`;

/** A machine that has the workspace's volume, with a name and clocks of its own: its wall clock may be wrong. */
export class Machine {
  readonly #workspace: Workspace;
  readonly name: string;
  #ahead = { wallMs: 0, passedMs: 0, isCutOff: false };

  constructor(workspace: Workspace, name: string, wallMs = 0) {
    this.#workspace = workspace;
    this.name = name;
    workspace.write('machine.mjs', MACHINE);
    this.#set({ ...this.#ahead, wallMs });
  }

  start(...args: string[]): Running {
    const env = { MACHINE: this.name };
    return this.#workspace.start(args, { env, nodeArguments: ['--import', './machine.mjs'] });
  }

  /** So much time passes on both clocks, all at once. */
  passes(ms: number): void {
    const { wallMs, passedMs } = this.#ahead;
    this.#set({ ...this.#ahead, wallMs: wallMs + ms, passedMs: passedMs + ms });
  }

  /** Its mount of the volume is gone. */
  loseDisk(): void {
    this.#set({ ...this.#ahead, isCutOff: true });
  }

  #set(ahead: { wallMs: number; passedMs: number; isCutOff: boolean }): void {
    this.#ahead = ahead;
    const path = `${this.name}.json`;
    this.#workspace.write(`${path}.new`, JSON.stringify(ahead));
    renameSync(this.#workspace.path(`${path}.new`), this.#workspace.path(path));
  }
}
