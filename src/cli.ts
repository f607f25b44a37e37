#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { formatFailureLine } from './command/error-line.js';
import type { Failure } from './command/failure.js';
import type { Terminal } from './command/terminal.js';

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
  isStdoutTerminal: process.stdout.isTTY === true,
  isStderrTerminal: process.stderr.isTTY === true,
  screen: {
    get columns() {
      return process.stdout.columns ?? 80;
    },
    ...nameCaller(),
  },
  writeStdout: (text) => {
    isResultBegun = true;
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
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
  leave: (exitCode, { code, message, hint }) => {
    const error = { code, message, hint: hint ?? null, problems: [] };
    printFailure({ state: exitCode === 2 ? 'refused' : 'stopped', exitCode, error });
    return exit(exitCode);
  },
  noteLogged: (error) => {
    logged = error;
  },
};

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
  // As `quoteWord` does, which is loaded by others too, and so has a file of its own in the build.
  const isPlain = /^[\w@%+=:,./~-]+$/.test(path);
  return { directory, command: `node ${isPlain ? path : `'${path.replaceAll("'", "'\\''")}'`}` };
}

/** '' where it was removed. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Of commands that shut down by themselves; one that has none ends at once. */
const listeners = new Set<(name: string) => void>();

function listenForSignals(): void {
  for (const signal of SIGNALS) {
    process.on(signal, (name) => {
      for (const listener of listeners) listener(name);
      if (listeners.size > 0) return;
      const message = `Cannot finish: the process received ${name}`;
      terminal.writeStderr(formatFailureLine({ message, exitCode: 75, code: 'interrupted' }, terminal));
      terminal.leave(75, { code: 'interrupted', message, hint: 'Run the same command again.' });
    });
  }
}

/** Part of the result is on stdout already: a second object would make it unreadable. */
let isResultBegun = false;

/** The object that says how a command ended, with --json. Written synchronously: the process may be about to end. */
function printFailure(failure: Failure): void {
  const asked = process.argv.findLast((argument) => /^--(no-)?json$/.test(argument));
  const isJson = asked === undefined ? !terminal.isStdoutTerminal : asked === '--json';
  if (!isJson || isResultBegun) return;
  isResultBegun = true;
  // Safe for a terminal: no control characters.
  const json = JSON.stringify(failure).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  let rest = Buffer.from(`${json}\n`);
  // A full pipe is retried for a second: its reader may be slow, or gone.
  for (let tries = 0; rest.length > 0 && tries < 100; tries += 1) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (!isOfSystem(error) || error.code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/**
 * Ends the process. Node waits for a pending read, and a read from a hanging disk never ends: where there may be one,
 * a helper process kills this one after half a second.
 */
function exit(exitCode: number): never {
  if (below !== '') terminal.showBelow?.('');
  if (process.getActiveResourcesInfo().some((name) => /^(FSReq|Worker|MessagePort)/.test(name))) {
    const kill = `process.stdin.on('end', () => process.exit()).resume(); setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), 500)`;
    spawn(process.execPath, ['-e', kill], { stdio: ['pipe', 'ignore', 'ignore'], detached: true }).on(
      'error',
      () => {},
    );
  }
  return process.exit(exitCode);
}

/** The error that the command's log has reported already. */
let logged: unknown;

type Printer = typeof import('./command/failure.js');

let printer: Printer | undefined;

/** Runs a command and returns its exit code, also for what it throws. */
async function finish(command: Promise<number>): Promise<void> {
  // Loaded up front: once the command has failed, no file descriptor may be left to load it with.
  const loading = Promise.all([loadPrinter(), putOffOptimizing()]);
  try {
    process.exitCode = await command;
  } catch (error) {
    await loading;
    fail(error);
  }
}

/**
 * The HTTP client parses answers by WebAssembly, which Node 20 optimizes in the background after some kilobytes. A
 * process that ends meanwhile waits for it, a tenth of a short run. This raises the threshold twentyfold; later
 * versions of Node defer it by themselves.
 */
async function putOffOptimizing(): Promise<void> {
  if (!process.version.startsWith('v20.')) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--wasm-tiering-budget=36000000');
}

async function loadPrinter(): Promise<void> {
  try {
    printer = await import('./command/failure.js');
  } catch {
    // The report is complete without it.
  }
}

function fail(error: unknown): void {
  const { formatFailed, describeFailure } = printer ?? WITHOUT_FILES;
  const failure = describeFailure(error);
  if (error !== logged) terminal.writeStderr(formatFailed(error, terminal));
  printFailure(failure);
  process.exitCode = failure.exitCode;
  // An abandoned read may keep the process alive.
  if (failure.error.code === 'interrupted') setTimeout(() => exit(failure.exitCode), 100).unref();
}

/**
 * Stands in for failure.ts where that could not be loaded. The error's own message is not masked here, so it is not
 * printed.
 */
const WITHOUT_FILES: Pick<Printer, 'formatFailed' | 'describeFailure'> = {
  formatFailed: (error, terminal) => formatFailureLine(describeWithoutFiles(error), terminal),
  describeFailure: (error) => {
    const { code, exitCode, message, hint } = describeWithoutFiles(error);
    return { state: exitCode === 75 ? 'stopped' : 'failed', exitCode, error: { code, message, hint, problems: [] } };
  },
};

function describeWithoutFiles(error: unknown): { code: string; exitCode: number; message: string; hint: string } {
  if (isOfSystem(error)) {
    const { code, syscall } = error;
    const message = `Cannot continue: the system refused ${syscall} (${code})`;
    const hint =
      'Nothing was sent without a record of it on disk. Fix the cause, for example with a higher `ulimit -n`, then run the same command to resume.';
    return { code, exitCode: 75, message, hint };
  }
  const message = `Cannot continue: volley cannot open its own files (${nameOf(error)}), expected all of them`;
  const hint = 'Check whether `ulimit -n` is too low, and whether volley is completely installed.';
  return { code: 'not-loaded', exitCode: 4, message, hint };
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error ? String(error.code) : error.name;
}

function isOfSystem(error: unknown): error is Error & { code: string; syscall: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** Sections of NODE_DEBUG that print bytes that Node reads (stream) or URLs that hold codes (undici, fetch). */
const TELLING = ['stream', 'undici', 'fetch'];

/** Node reads NODE_DEBUG before any of our code runs, patterns such as * included: ask Node which sections are on. */
async function assertNodeIsSilent(): Promise<void> {
  const { debuglog } = await import('node:util');
  const told = TELLING.filter((section) => debuglog(section).enabled);
  if (told.length === 0) return;
  await loadPrinter();
  const { UserError } = await import('./domain/errors.js');
  throw new UserError(
    'unsafe-environment',
    `Cannot start: with NODE_DEBUG=${told.join(',')} Node prints phone numbers, keys and codes, expected it without them`,
    { hint: 'Remove them from NODE_DEBUG; http, net, tls and worker print none of these.' },
  );
}

async function main(): Promise<void> {
  listenForSignals();
  // Without a listener a closed pipe would end the process at once. For stdout the failing write reports it; a log
  // without a reader does not end a run.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  // Unhandled rejections, too. What is in flight is in doubt, as after a crash.
  process.on('uncaughtException', (error) => {
    fail(error);
    exit(Number(process.exitCode));
  });
  try {
    await assertNodeIsSilent();
    const { runCommandLine } = await import('./verbs/command-line.js');
    await runCommandLine(process.argv.slice(2), { terminal, finish }, process.stdout.columns ?? 100);
  } catch (error) {
    fail(error);
  }
}

await main();
