#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import type { Failure } from './command/failure.js';
import type { Terminal } from './command/terminal.js';
import { quoteWord, UserError } from './domain/errors.js';

/**
 * Verbs → commands. The only reader of argv and env, the only process.exit. Everything else is loaded by `import()`:
 * where no more files may be opened, an import fails and can be caught, and no failure may end with node's own exit
 * code 1, which says "finished". A command is loaded only for its verb, so that `--help` loads no HTTP client, no CSV
 * parser and no server.
 */
const terminal: Terminal = {
  env: process.env,
  // The reader opens it.
  get stdin() {
    return process.stdin;
  },
  ...(isatty(0) && isatty(2) ? { readLine } : {}),
  isStdoutTerminal: process.stdout.isTTY === true,
  isStderrTerminal: process.stderr.isTTY === true,
  screen: {
    get columns() {
      // A terminal that does not know its width says 0.
      return process.stdout.columns || 80;
    },
    ...nameCaller(),
  },
  writeStdout: (text) => {
    isResultBegun = true;
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(Object.assign(error, { path: 'stdout' })) : resolve()));
    });
  },
  writeStderr: (text) => {
    process.stderr.write(below === '' ? text : `${ERASE_LINE}${text}${below}`);
  },
  showBelow: (line) => {
    below = line;
    process.stderr.write(`${ERASE_LINE}${line}`);
  },
  onSignal: (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  leave: (failure) => {
    printFailure(failure);
    return exit(failure.exitCode);
  },
  noteLogged: (error) => {
    logged = error;
  },
};

/** A terminal hands over whole lines. Between two questions nothing is read, so that the process can end. */
function readLine(): Promise<string | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const end = (line?: Buffer) => {
      stdin.off('data', end).off('end', end).off('error', endWithoutLine).pause();
      resolve(line?.toString());
    };
    const endWithoutLine = () => end();
    stdin.on('data', end).on('end', end).on('error', endWithoutLine).resume();
  });
}

/** The bar. Cursor and wrapping stay as they are: a process that is killed leaves nothing to be put right. */
let below = '';
const ERASE_LINE = '\r\u001b[K';

/** Where and how this was called, so that the commands it prints can be copied: in a checkout there is no `volley` on the path. */
function nameCaller(): { directory: string; command: string } {
  const [, script = ''] = process.argv;
  const { npm_command: npm, npm_lifecycle_event: event } = process.env;
  const directory = currentDirectory();
  if (npm === 'exec' || event === 'start') return { directory, command: 'npx volley' };
  if (!script.endsWith('cli.js')) return { directory, command: 'volley' };
  const isBelow = directory !== '' && script.startsWith(`${directory}/`);
  const path = isBelow ? script.slice(directory.length + 1) : script;
  return { directory, command: `node ${quoteWord(path)}` };
}

/** The directory that the process is in; '' where it was removed. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

/** How commands shut down that do so by themselves; a command that has none ends at once. */
const listeners = new Set<(name: string) => void>();

function endOnSignal(name: string): void {
  for (const listener of listeners) listener(name);
  if (listeners.size > 0) return;
  const hint = 'Run the same command again.';
  void end(new UserError('interrupted', `Cannot finish: the process received ${name}`, { hint }));
}

/** Part of the result is on stdout already: a second object would make it unreadable. */
let isResultBegun = false;

/** The object that says how a command ended, with --json. Written synchronously: the process may be about to end. */
function printFailure(failure: object): void {
  const asked = process.argv.findLast((argument) => /^--(no-)?json(=(true|false))?$/.test(argument));
  const isJson =
    asked === undefined ? !terminal.isStdoutTerminal : asked.startsWith('--no-') === asked.endsWith('=false');
  if (!isJson || isResultBegun) return;
  isResultBegun = true;
  // Safe for a terminal: no control characters.
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  let rest = Buffer.from(`${JSON.stringify(failure).replace(/[^ -~]/g, escapeUnit)}\n`);
  // A full pipe is retried for a second: its reader may be slow, or gone.
  for (let tries = 0; rest.length > 0 && tries < 100; tries += 1) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/**
 * Ends the process before it ends by itself. Node waits for a pending read, and a read from a hanging disk never ends, nor does every version
 * tell of it: a helper process kills this one after half a second.
 */
function exit(exitCode: number): never {
  if (below !== '') terminal.showBelow?.('');
  const kill = `process.stdin.on('end', () => process.exit()).resume(); setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), 500)`;
  spawn(process.execPath, ['-e', kill], { stdio: ['pipe', 'ignore', 'ignore'], detached: true }).on('error', () => {});
  return process.exit(exitCode);
}

/** The error that the command's log has reported already. */
let logged: unknown;

/** Says why the command failed. Once it has begun, this loads nothing: there may be no file descriptor left to load with. */
async function fail(error: unknown): Promise<void> {
  const printer = await import('./command/failure.js').catch(() => undefined);
  const failure = printer?.describeFailure(error) ?? NOT_LOADED;
  if (printer === undefined) terminal.writeStderr(`${NOT_LOADED.error.message}\n${NOT_LOADED.error.hint}\n`);
  else if (error !== logged) printer.sayFailed(error, terminal);
  printFailure(failure);
  process.exitCode = failure.exitCode;
  // An abandoned read may keep the process alive.
  if (failure.error.code === 'interrupted') setTimeout(() => exit(failure.exitCode), 100).unref();
}

async function end(error: unknown): Promise<never> {
  await fail(error);
  return exit(Number(process.exitCode));
}

/** What failed may hold anything, and what masks it is not loaded. */
const NOT_LOADED = {
  state: 'failed',
  exitCode: 4,
  error: {
    code: 'not-loaded',
    message: 'Cannot start: volley cannot open its own files, expected all of them',
    hint: 'Nothing was sent. Check whether `ulimit -n` is too low, and whether volley is completely installed.',
    problems: [],
  },
} as const satisfies Failure;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, endOnSignal);
// Without a listener a closed pipe would end the process at once. For stdout the failing write reports it; a log
// without a reader does not end a run.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// At its end Node puts terminals right, and aborts where one is gone, but not where the file is another by then.
const terminals = [0, 1, 2].filter((fd) => isatty(fd));
process.on('exit', () => {
  for (const fd of terminals.filter((each) => !isatty(each))) {
    closeSync(fd);
    openSync(devNull, 'r+');
  }
});
// Unhandled rejections, too. What is in flight is in doubt, as after a crash.
process.on('uncaughtException', (error) => void end(error));
// The HTTP client parses answers by WebAssembly, which Node 20 optimizes after some kilobytes: a process that ends meanwhile waits for
// it, a tenth of a short run. Later versions defer it by themselves.
if (process.version.startsWith('v20.')) setFlagsFromString('--wasm-tiering-budget=36000000');
try {
  const { runCommandLine } = await import('./verbs/command-line.js');
  process.exitCode = await runCommandLine(process.argv.slice(2), terminal, process.stdout.columns || 100);
} catch (error) {
  await fail(error);
}
