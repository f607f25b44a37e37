// Loaded beforehand: what a process loads in the middle of its work would take real time.
import '../../src/command/open-cluster.js';
import '../../src/input/text/byte-source.js';
import '../../src/registry/write-run-report.js';
import '../../src/report/write-report.js';
import '../../src/run/apply-plan.js';
import type { Env } from '../../src/command/env.js';
import { describeFailure } from '../../src/command/failure.js';
import type { Terminal } from '../../src/command/terminal.js';
import type { Clock } from '../../src/ports/clock.js';
import type { RunLaneOptions } from '../../src/run/run-deps.js';
import type { Random } from '../../src/sandbox/random.js';
import { LaneStopped } from '../../src/throttle/gate.js';
import type { Lane, PassGate } from '../../src/throttle/lane.js';
import { createSimFiles, type Perform } from './sim-files.js';
import { createTableReader } from './table-reader.js';
import { NOON, type SimProcess } from './timeline.js';
import type { World } from './world.js';

/** What happens to a process: after so many of its operations, or with so many of its requests, this. */
export interface Mishap {
  /**
   * `kill`: it dies. `power`: all processes die, and what was not synced may be lost. `signal`: SIGTERM. `stop`: SIGSTOP, for a time.
   * `disk`: one operation fails, as `code` says. `short write`: of one operation that writes a part is done, and it says so.
   * `kill with a request`: it dies when the answer is there.
   */
  readonly kind: 'kill' | 'power' | 'signal' | 'stop' | 'disk' | 'short write' | 'kill with a request';
  readonly after: number;
  readonly code?: 'EIO' | 'ENOSPC' | 'EMFILE';
}

export interface Birth {
  readonly host: string;
  readonly mishap?: Mishap | undefined;
  /** How far its wall clock is ahead. */
  readonly skewMs?: number;
  /** On a machine of its own, without a disk. */
  readonly isElsewhere?: boolean;
  readonly onOver?: () => void;
}

/** One life of a command, such as `volley run`, from its start to its end or its death. */
export class Process implements SimProcess {
  readonly name: string;
  readonly pid: number;
  isAlive = true;
  stoppedUntilMs = 0;
  wasStopped = false;
  readonly bornMs: number;
  /** Undefined while it lives, and where it died. */
  exitCode: number | undefined;
  error: unknown;
  /** The operation that the disk failed. */
  failed: string | undefined;
  /** What it printed: the summary, as JSON. */
  stdout = '';
  readonly #world: World;
  readonly #birth: Birth;
  #operations = 0;
  #requests = 0;
  #hear: (signal: string) => void = () => {};

  constructor(world: World, pid: number, birth: Birth) {
    this.#world = world;
    this.pid = pid;
    this.name = `p${pid}`;
    this.#birth = birth;
    this.bornMs = world.timeline.nowMs;
  }

  /** What its clock shows. */
  get clockMs(): number {
    return NOON + Math.round(this.#world.timeline.nowMs) + (this.#birth.skewMs ?? 0);
  }

  get isOnDisk(): boolean {
    return this.#birth.isElsewhere !== true;
  }

  start(command: (terminal: Terminal) => Promise<number>): void {
    this.#world.trace(`${this.name} starts on ${this.#birth.host}`);
    command(this.#createHost()).then(
      (exitCode) => this.#end(exitCode, undefined),
      (error: unknown) => this.#end(describeFailure(error).exitCode, error),
    );
  }

  die(why: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#world.trace(`${this.name} dies: ${why}`);
    this.#birth.onOver?.();
  }

  /** SIGSTOP, and SIGCONT after a time. */
  stop(forMs: number): void {
    const { timeline, trace } = this.#world;
    trace(`${this.name} is stopped for ${Math.round(forMs)} ms`);
    this.wasStopped = true;
    this.stoppedUntilMs = timeline.nowMs + forMs;
  }

  terminate(): void {
    this.#world.trace(`${this.name} gets SIGTERM`);
    try {
      this.#hear('SIGTERM');
    } catch (error) {
      // It was the second one: it left.
      if (this.isAlive) throw error;
    }
  }

  /** It calls something outside; false where it died before the call was on its way. */
  callOut(name: string): boolean {
    if (!this.isAlive) return false;
    const mishap = this.#operate(name);
    if (mishap !== 'kill' && mishap !== 'power' && mishap !== 'disk') return true;
    const isOnItsWay = this.#world.random() < 0.5;
    this.die('kill -9');
    return isOnItsWay;
  }

  /** What meets this operation. Signals have their effect at once. */
  #operate(name: string): Mishap['kind'] | undefined {
    const { mishap } = this.#birth;
    this.#operations += 1;
    this.#world.trace(`${this.name} ${name}`);
    if (mishap?.kind === 'kill with a request' || this.#operations !== mishap?.after) return undefined;
    if (mishap.kind === 'signal') this.terminate();
    if (mishap.kind === 'stop') this.stop(1000 + this.#world.random() * 120_000);
    return mishap.kind;
  }

  get isOver(): boolean {
    return !this.isAlive || this.exitCode !== undefined;
  }

  #end(exitCode: number, error: unknown): void {
    if (!this.isAlive) return;
    this.exitCode = exitCode;
    this.error = error;
    this.isAlive = false;
    this.#world.trace(`${this.name} ends: ${exitCode} ${error instanceof Error ? error.message : ''}`);
    this.#birth.onOver?.();
  }

  readonly #perform: Perform = (name, act, tear) =>
    new Promise((resolve, reject) => {
      const { timeline, random } = this.#world;
      const run = () => {
        const mishap = this.#operate(name);
        if (mishap === 'kill' || mishap === 'power') {
          doPartly(act, tear, random);
          if (mishap === 'power') this.#world.cutPower();
          else this.die('kill -9');
          return;
        }
        if (mishap === 'disk' || mishap === 'short write') this.failed = name;
        if (mishap === 'disk') {
          tear?.();
          const { code = 'ENOSPC' } = this.#birth.mishap ?? {};
          reject(Object.assign(new Error(`${code}: the disk fails`), { code, syscall: 'write' }));
          return;
        }
        try {
          resolve(mishap === 'short write' && tear !== undefined ? tear() : act());
        } catch (error) {
          reject(error);
        }
      };
      timeline.schedule(random() * 2, run, this);
    });

  #createHost(): Terminal {
    return {
      env: { KEY: 'k3y', VOLLEY_DATABASE_URL: 'postgres://simulated/volley' },
      stdin: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: '' }) }) },
      isStdoutTerminal: false,
      isStderrTerminal: false,
      writeStdout: async (text) => {
        this.stdout += text;
        this.#world.onPrinted(this, text);
      },
      writeStderr: () => {},
      onSignal: (listener) => {
        this.#hear = listener;
        return () => {};
      },
      leave: () => {
        this.die('a second signal');
        throw new Error('left');
      },
      createLog: () => ({
        info: () => {},
        warn: (text) => this.#world.trace(`${this.name} says ${text}`),
        error: () => {},
      }),
      runtime: this.#createEnv(),
    };
  }

  #createEnv(): Env {
    const world = this.#world;
    const { timeline, disk, service } = world;
    const { host, mishap } = this.#birth;
    const clock: Clock = {
      now: () => this.clockMs,
      monotonicMs: () => timeline.nowMs,
      sleep: (delayMs, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          const wake = () => {
            signal?.removeEventListener('abort', wake);
            resolve();
          };
          signal?.addEventListener('abort', wake);
          timeline.schedule(delayMs, wake, this);
        }),
    };
    return {
      files: createSimFiles(disk, this.#perform, { pid: this.pid, nowMs: clock.now, onSynced: world.onSynced }),
      clock,
      random: world.random,
      owner: { host: `${host}/${disk.powerCuts}`, pid: this.pid, instance: `i${this.pid}` },
      // However small.
      packFromBytes: 1,
      isProcessAlive: (pid) => world.isAlive(pid),
      spawn: () => {
        throw new Error('No command here starts another');
      },
      loadReader: async () => createTableReader(world.tables),
      loadLane: async () => (options) => createSimLane(options, world, this),
      loadStore: async () => {
        if (world.connect === undefined) throw new Error('no database in this world');
        return world.connect(this);
      },
      loadTransport: async () => () => ({
        send: (call, signal) => {
          this.#requests += 1;
          const isLast = mishap?.kind === 'kill with a request' && this.#requests === mishap.after;
          const answer = service.send(this, call, signal);
          if (!isLast) return answer;
          return answer.then(() => {
            this.die('kill -9');
            return new Promise(() => {});
          });
        },
        close: async () => {},
      }),
    };
  }
}

/** What is left of the operation in which a process dies: a part of it, all of it, or nothing. */
function doPartly(act: () => unknown, tear: (() => unknown) | undefined, random: Random): void {
  try {
    if (tear !== undefined && random() < 0.5) tear();
    else if (random() < 0.3) act();
  } catch {
    // It would have failed; no one is there to hear of it.
  }
}

/** So many at a time, in order; a pause holds them all. Rates are the real lane's affair. */
function createSimLane({ limits, signal }: RunLaneOptions, { timeline, turnMs }: World, process: SimProcess): Lane {
  const waiting: (() => void)[] = [];
  let running = 0;
  let freeAtMs = 0;
  const enter = () =>
    new Promise<void>((resolve) => {
      if (running < limits.concurrency) {
        running += 1;
        resolve();
      } else waiting.push(resolve);
    });
  const leave = () => {
    running -= 1;
    const next = waiting.shift();
    if (next === undefined) return;
    running += 1;
    next();
  };
  const turn = () =>
    new Promise<void>((resolve, reject) => {
      const stop = () => reject(new LaneStopped());
      const pass = () => {
        if (timeline.nowMs < freeAtMs) return timeline.schedule(freeAtMs - timeline.nowMs, pass, process);
        signal.removeEventListener('abort', stop);
        resolve();
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop);
      timeline.schedule(turnMs, pass, process);
    });
  const gate: PassGate = async (preSendCheck) => {
    await turn();
    await preSendCheck?.();
    return undefined;
  };
  return {
    run: async (_cost, task) => {
      await enter();
      try {
        if (signal.aborted) throw new LaneStopped();
        return await task(gate);
      } finally {
        leave();
      }
    },
    pauseFor: (delayMs) => {
      freeAtMs = Math.max(freeAtMs, timeline.nowMs + delayMs);
    },
    slowDown: () => {},
    noteSuccess: () => {},
    close: async () => {},
  };
}
