import { randomUUID } from 'node:crypto';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { describeFailure, sayFailed } from '../../src/command/failure.js';
import type { Terminal } from '../../src/command/terminal.js';
import { quoteWord } from '../../src/domain/errors.js';
import { runCommandLine } from '../../src/verbs/command-line.js';
import { aTerminal } from '../command/a-terminal.js';
import type { Spawning } from '../kill/life.js';
import { COMMAND, type Ended } from './command.js';

export type InProcess = Pick<Spawning, 'cwd' | 'env' | 'stdin'> & {
  /** What the test changes of this machine and this process. */
  readonly runtime?: Partial<Env>;
  /** What a person types, line by line; absent where there is no terminal. */
  readonly typed?: readonly string[];
};

/** A run sends at once, and not a second after the run before it: `rate-between-runs.test.ts` has that. */
const loadLane: Env['loadLane'] = async () => {
  const create = await nodeEnv.loadLane();
  return (options) => create({ ...options, lastSentMsAgo: undefined });
};

/** What `leave` throws, as no code of a process that was left runs on. */
class Left extends Error {}

let last: Promise<unknown> = Promise.resolve();

/**
 * The command line from its arguments to its exit code, in this process: what `cli.ts` does around it is done here.
 * One at a time, as a process has one working directory. It starts in a tenth of the time of a process.
 */
export function runCommandInProcess(args: readonly string[], start: InProcess): Promise<Ended> {
  const ended = last.then(() => runIn(args, start));
  last = ended.catch(() => {});
  return ended;
}

async function runIn(args: readonly string[], { cwd, env, stdin, runtime: given = {}, typed }: InProcess) {
  const runtime = { ...nodeEnv, loadLane, ...given };
  const before = process.cwd();
  process.chdir(cwd);
  const { terminal: plain, said } = aTerminal({ env, isStderrTerminal: false });
  let code: number | null = null;
  let logged: unknown;
  const lines = [...(typed ?? [])];
  const printFailure = (failure: object) => {
    if (args.findLast((argument) => /^--(no-)?json$/.test(argument)) === '--no-json' || said.stdout !== '') return;
    said.stdout = `${JSON.stringify(failure)}\n`;
  };
  const terminal: Terminal = {
    ...plain,
    stdin: (async function* () {
      if (stdin !== undefined) yield stdin;
    })(),
    ...(typed && { readLine: async () => lines.shift() }),
    screen: { columns: 80, directory: cwd, command: `node ${quoteWord(COMMAND)}` },
    leave: (failure) => {
      printFailure(failure);
      code = failure.exitCode;
      throw new Left(failure.error.message);
    },
    noteLogged: (error) => {
      logged = error;
    },
    // Each command is a process of its own to the locks.
    runtime: { ...runtime, owner: { ...runtime.owner, instance: randomUUID() } },
  };
  const fail = (error: unknown) => {
    if (error instanceof Left) return;
    if (error !== logged) sayFailed(error, terminal);
    const failure = describeFailure(error);
    printFailure(failure);
    code = failure.exitCode;
  };
  try {
    code = await runCommandLine(args, terminal, 100);
  } catch (error) {
    fail(error);
  } finally {
    process.chdir(before);
  }
  return { code, signal: null, ...said };
}
