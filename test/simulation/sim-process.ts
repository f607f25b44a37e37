// Loaded beforehand: what a process loads in the middle of its work would take real time.
import '../../src/command/open-cluster.js';
import '../../src/input/spool.js';
import '../../src/registry/tests/write-run-report.js';
import '../../src/report/early/early-outputs.js';
import '../../src/report/write-report.js';
import '../../src/run/apply-plan.js';
import type { Store } from '../../src/cluster/store.js';
import type { Env } from '../../src/command/env.js';
import { exitCodeOfError } from '../../src/command/failure.js';
import type { Terminal } from '../../src/command/terminal.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Random } from '../../src/sandbox/random.js';
import type { CrashDisk } from './crash-disk.js';
import type { Mishap, Scenario } from './scenario.js';
import { createSimFiles, type Perform } from './sim-files.js';
import { createSimLane } from './sim-lane.js';
import { createSimReader } from './sim-reader.js';
import type { SimService } from './sim-service.js';
import type { SimProcess, Timeline } from './timeline.js';

/** What all processes of a simulation share. */
export interface Stage {
  readonly timeline: Timeline;
  readonly disk: CrashDisk;
  readonly service: SimService;
  readonly random: Random;
  readonly scenario: Scenario;
  readonly trace: (line: string) => void;
  /** A file was synced. */
  readonly onSynced: (path: string) => void;
  /** A process prints its summary, as JSON. */
  readonly onPrinted: (runner: Runner, text: string) => void;
  readonly cutPower: () => void;
  readonly isAlive: (pid: number) => boolean;
  /** Connects a process to the database; undefined in a world without. */
  readonly connect?: (runner: Runner) => Store;
}

const NOON = Date.parse('2026-11-21T12:00:00Z');

/** One life of a command, such as `volley run`, from its start to its end or its death. */
export class Runner implements SimProcess {
  readonly name: string;
  readonly pid: number;
  isAlive = true;
  stoppedUntilMs = 0;
  wasStopped = false;
  /** Undefined while it lives, and where it died. */
  exitCode: number | undefined;
  error: unknown;
  operations = 0;
  /** What it printed: the summary, as JSON. */
  stdout = '';
  readonly #stage: Stage;
  readonly #host: string;
  readonly #skewMs: () => number;
  readonly #onOver: () => void;
  readonly #mishap: Mishap | undefined;
  #hear: (signal: string) => void = () => {};

  constructor(
    stage: Stage,
    own: {
      pid: number;
      host: string;
      mishap: Mishap | undefined;
      /** How far its wall clock is ahead. */
      skewMs: () => number;
      onOver?: () => void;
    },
  ) {
    this.#stage = stage;
    this.pid = own.pid;
    this.name = `p${own.pid}`;
    this.#host = own.host;
    this.#skewMs = own.skewMs;
    this.#onOver = own.onOver ?? (() => {});
    this.#mishap = own.mishap;
  }

  start(command: (host: Terminal) => Promise<number>): void {
    this.#stage.trace(`${this.name} starts on ${this.#host}`);
    command(this.#createHost()).then(
      (exitCode) => this.#end(exitCode, undefined),
      (error: unknown) => this.#end(exitCodeOfError(error), error),
    );
  }

  die(why: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#stage.trace(`${this.name} dies: ${why}`);
    this.#onOver();
  }

  /** SIGSTOP, and SIGCONT after a time. */
  stop(forMs: number): void {
    const { timeline, trace } = this.#stage;
    trace(`${this.name} is stopped for ${Math.round(forMs)} ms`);
    this.wasStopped = true;
    this.stoppedUntilMs = timeline.nowMs + forMs;
  }

  terminate(): void {
    this.#stage.trace(`${this.name} gets SIGTERM`);
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
    const { random, trace } = this.#stage;
    this.operations += 1;
    trace(`${this.name} ${name}`);
    if (this.operations !== this.#mishap?.afterOperations) return true;
    const { kind } = this.#mishap;
    if (kind === 'stop') this.stop(1000 + random() * 120_000);
    else if (kind === 'signal') this.terminate();
    else {
      const isOnItsWay = random() < 0.5;
      this.die('kill -9');
      return isOnItsWay;
    }
    return true;
  }

  get isOver(): boolean {
    return !this.isAlive || this.exitCode !== undefined;
  }

  #end(exitCode: number, error: unknown): void {
    if (!this.isAlive) return;
    this.exitCode = exitCode;
    this.error = error;
    this.isAlive = false;
    this.#stage.trace(`${this.name} ends: ${exitCode} ${error instanceof Error ? error.message : ''}`);
    this.#onOver();
  }

  readonly #perform: Perform = (name, act, tear) =>
    new Promise((resolve, reject) => {
      const { timeline, random, trace } = this.#stage;
      const run = () => {
        this.operations += 1;
        trace(`${this.name} ${name}`);
        const mishap = this.operations === this.#mishap?.afterOperations ? this.#mishap.kind : undefined;
        if (mishap === 'kill' || mishap === 'power') {
          doPartly(act, tear, random);
          if (mishap === 'power') this.#stage.cutPower();
          else this.die('kill -9');
          return;
        }
        if (mishap === 'disk') {
          tear?.();
          reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'write' }));
          return;
        }
        if (mishap === 'signal') this.terminate();
        if (mishap === 'stop') this.stop(1000 + random() * 120_000);
        try {
          resolve(act());
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
        this.#stage.onPrinted(this, text);
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
        warn: (text) => this.#stage.trace(`${this.name} says ${text}`),
        error: () => {},
      }),
      runtime: this.#createWorld(),
    };
  }

  #createWorld(): Env {
    const { timeline, random, disk, service, scenario, onSynced, isAlive, connect } = this.#stage;
    const clock: Clock = {
      now: () => NOON + Math.round(timeline.nowMs) + this.#skewMs(),
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
    const files = createSimFiles(disk, this.#perform, { pid: this.pid, nowMs: clock.now, onSynced });
    return {
      files,
      clock,
      random,
      owner: { host: `${this.#host}/${this.#stage.disk.powerCuts}`, pid: this.pid, instance: `i${this.pid}` },
      snapshotEveryBytes: scenario.snapshotEveryBytes,
      // However small.
      packFromBytes: 1,
      createBusyMeter: () => () => 0,
      isProcessAlive: isAlive,
      loadReader: async () => createSimReader(scenario),
      loadLane: async () => (options) => createSimLane(options, timeline, this),
      loadStore: async () => {
        if (connect === undefined) throw new Error('no database in this world');
        return connect(this);
      },
      loadTransport: async () => () => service.transportOf(this),
    };
  }
}

/** What is left of the operation in which a process dies: a part of it, all of it, or nothing. */
function doPartly(act: () => unknown, tear: (() => void) | undefined, random: Random): void {
  try {
    if (tear !== undefined && random() < 0.5) tear();
    else if (random() < 0.3) act();
  } catch {
    // It would have failed; no one is there to hear of it.
  }
}
