import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDiskError } from '../command/disk-error.js';
import type { Env } from '../command/env.js';
import { closing } from '../domain/closing.js';
import { UserError } from '../domain/errors.js';
import { parseJson } from '../domain/is-object.js';

/** What a command printed with --json. */
export interface Printed {
  readonly exitCode: number;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
    readonly problems: readonly PrintedProblem[];
  } | null;
  readonly [key: string]: unknown;
}

export interface PrintedProblem {
  readonly file?: string;
  readonly line?: number | null;
  readonly key: string | null;
  readonly message: string;
  readonly hint: string | null;
}

/** A command that was started for a campaign, as far as it has come. */
export interface Started {
  readonly jobSha256: string;
  readonly about: string | undefined;
  readonly isAtWork: boolean;
  readonly printed: Printed | undefined;
}

export interface ShortCommand {
  /** Who wants it done: undefined for the user of the machine. */
  readonly actor: { readonly name: string } | undefined;
  readonly directory: string;
  readonly args: readonly string[];
}

export interface CommandToStart extends ShortCommand {
  /** What is started in place of the verb whose output it is, such as `retry` where a plan is made. */
  readonly verb?: string;
  readonly jobSha256: string;
  /** The run that its output is about, where it is about one alone; for a test, the numbers as they were typed. */
  readonly about?: string;
}

type CommandsEnv = Pick<Env, 'files' | 'owner' | 'isProcessAlive' | 'spawn'>;

export type Commands = ReturnType<typeof createCommands>;

/**
 * Commands as they stand in a terminal: the console itself neither plans nor sends. Long ones go on when it ends; their output is in files.
 * `runHere`: what reads the job, its lists and the first rows alone: a process for it would take longer to start than the command.
 */
export function createCommands(runHere: (command: ShortCommand) => Promise<Printed>, env: CommandsEnv) {
  const children = new Set<ChildProcess>();
  const stopped = new Set<string>();

  async function run({ actor, directory, args }: ShortCommand): Promise<Printed> {
    const child = spawn(args, { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'] }, actor);
    const [out] = await Promise.all([child.stdout === null ? '' : text(child.stdout), once(child, 'close')]);
    return parseJson(out) ?? UNSAID;
  }

  /** `state`: the directory that has its output, of one of a verb at a time: false where that is at work. */
  async function start(state: string, slot: string, command: CommandToStart): Promise<boolean> {
    const { actor, directory, verb = slot, args, jobSha256, about } = command;
    const path = join(state, slot);
    const before = await find(state, slot);
    if (before?.isAtWork === true) return false;
    await env.files.makeDirectory(state);
    await using out = closing(await open(`${path}.out`, 'w', 0o600));
    await using log = closing(await open(`${path}.log`, 'w', 0o600));
    const options: SpawnOptions = { cwd: directory, stdio: ['ignore', out.fd, log.fd], detached: true };
    const child = spawn([verb, ...args], options, actor);
    await once(child, 'spawn');
    child.unref();
    children.add(child);
    child.once('exit', () => children.delete(child));
    const { host } = env.owner;
    await env.files.writeWhole(`${path}.json`, JSON.stringify({ pid: child.pid, host, jobSha256, about }));
    return true;
  }

  /** One signal: a second would not wait for what is in flight. `instance`: of the lock that the process has, as its id may be another's later. */
  function stop(pid: number, instance = ''): boolean {
    const of = (each: string) => each.startsWith(`${pid} `) && (instance === '' || each === `${pid} ${instance}`);
    if ([...stopped].some(of)) return false;
    try {
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      // It ended by itself since it was looked at.
      if (isDiskError(error) && error.code === 'ESRCH') return false;
      throw new UserError('bad-input', 'The process that sends is of another user of this machine, who can stop it.');
    }
    stopped.add(`${pid} ${instance}`);
    return true;
  }

  /** Where the console is the first process of a container, its end would kill them. */
  async function stopAll(): Promise<void> {
    const ends = [...children].map((child) => {
      child.ref();
      stop(child.pid ?? 0);
      return new Promise((resolve) => child.once('exit', resolve));
    });
    await Promise.all(ends);
  }

  async function find(state: string, verb: string): Promise<Started | undefined> {
    const started = parseJson(await env.files.readText(join(state, `${verb}.json`)));
    if (started === undefined) return undefined;
    // On another boot, or another machine, the id is that of another process.
    const { pid, host, jobSha256, about } = started;
    // Asked before the output is read: what it printed last is in it.
    const isAlive = host === env.owner.host && env.isProcessAlive(pid);
    const out = await readFile(join(state, `${verb}.out`), 'utf8').catch(() => '');
    const isAtWork = isAlive && !out.endsWith('\n');
    return { jobSha256, about, isAtWork, printed: isAtWork ? undefined : (parseJson(out) ?? UNSAID) };
  }

  function spawn(args: readonly string[], options: SpawnOptions, actor: ShortCommand['actor']) {
    const own = actor === undefined ? {} : { VOLLEY_ACTOR: actor.name };
    return env.spawn([...args, '--json'], { ...options, env: { ...process.env, ...own } });
  }

  return { runHere, run, start, stop, stopAll, find };
}

const UNSAID: Printed = {
  exitCode: 75,
  error: {
    code: 'unexpected',
    message: 'The command ended before it said anything: it was killed, or this machine went down.',
    hint: 'Start it again: nothing is sent twice.',
    problems: [],
  },
};
