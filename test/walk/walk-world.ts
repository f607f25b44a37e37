// Loaded beforehand: what a command loads in its middle would take real time.
import '../../src/input/spool.js';
import '../../src/report/write-report.js';
import '../../src/run/apply-plan.js';
import type { Env } from '../../src/command/env.js';
import type { Terminal } from '../../src/command/terminal.js';
import type { RunLaneOptions } from '../../src/run/run-deps.js';
import { createRandom, type Random } from '../../src/sandbox/random.js';
import { LaneStopped } from '../../src/throttle/gate.js';
import type { Lane } from '../../src/throttle/lane.js';
import { CrashDisk } from '../world/crash-disk.js';
import { createSimFiles, type Perform } from '../world/sim-files.js';
import { createTableReader, type InputTable } from '../world/table-reader.js';
import { MINUTE, WalkService } from './walk-service.js';

/** Errors of a disk. */
export const ERRNOS = ['EIO', 'ENOSPC', 'EMFILE'] as const;
type Errno = (typeof ERRNOS)[number];
const isErrno = (kind: string): kind is Errno => ERRNOS.includes(kind as Errno);
const diskError = (code: Errno) => Object.assign(new Error(`${code}: the disk fails`), { code, syscall: 'any' });

/** How a command is cut short: at its n-th operation on the disk, which may fail instead, or with its n-th request. */
export interface Death {
  readonly kind: 'kill' | 'power' | 'signal' | 'kill with a request' | 'short write' | Errno;
  readonly after: number;
}

export interface Ended {
  /** Undefined: the process died. */
  readonly exitCode: number | undefined;
  readonly error: unknown;
  readonly stdout: string;
  /** The operation that the disk failed. */
  readonly failed: string | undefined;
}

const START = Date.parse('2026-11-21T12:00:00Z');
type Never = Promise<never>;
const never = (): Never => new Promise(() => {});

/** A disk, a clock and a service, on which one command after the other is given, each by a process of its own. */
export class WalkWorld {
  readonly disk = new CrashDisk();
  readonly random: Random;
  readonly service: WalkService;
  /** Input files and exports, by path. */
  readonly tables = new Map<string, InputTable>();
  nowMs = START;
  #nextPid = 100;

  constructor(seed: number) {
    this.random = createRandom(seed, 1);
    this.service = new WalkService(createRandom(seed, 2), () => this.nowMs);
  }

  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 20 * MINUTE) {
      this.nowMs += Math.min(left, 20 * MINUTE);
      this.service.passTo(this.nowMs);
    }
  }

  /** Gives a command to a new process, and waits for its end or its death. */
  async give(task: (host: Terminal) => Promise<number>, death?: Death): Promise<Ended> {
    let operations = 0;
    let requests = 0;
    let isDead = false;
    let stdout = '';
    let hear: (signal: string) => void = () => {};
    const pid = this.#nextPid++;
    let tellDeath = () => {};
    const died = new Promise<undefined>((resolve) => {
      tellDeath = () => resolve(undefined);
    });
    const die = () => {
      isDead = true;
      if (death?.kind === 'power') {
        this.disk.cutPower(this.random);
        // The machine starts again, and is another host to the lock: that of the dead process has to expire.
        this.pass(2 * MINUTE);
      }
      tellDeath();
    };
    let failed: string | undefined;
    const perform: Perform = async (name, act, tear) => {
      if (isDead) return never();
      operations += 1;
      this.nowMs += 1;
      if (operations !== death?.after || death.kind === 'kill with a request') return act();
      if (death.kind === 'signal') {
        hear('SIGTERM');
        return act();
      }
      failed = name;
      if (death.kind === 'short write') return (tear ?? act)() as ReturnType<typeof act>;
      if (tear !== undefined && this.random() < 0.5) tear();
      else if (!isErrno(death.kind) && this.random() < 0.3) act();
      if (isErrno(death.kind)) throw diskError(death.kind);
      die();
      return never();
    };
    const files = createSimFiles(this.disk, perform, { pid, nowMs: () => this.nowMs });
    const runtime: Env = {
      files,
      clock: {
        now: () => this.nowMs,
        monotonicMs: () => this.nowMs,
        sleep: (_delayMs, signal) =>
          new Promise((resolve) => {
            if (signal?.aborted) resolve();
            else signal?.addEventListener('abort', () => resolve(), { once: true });
          }),
      },
      random: this.random,
      // However small.
      packFromBytes: 1,
      owner: { host: `desk/${this.disk.powerCuts}`, pid, instance: `i${pid}` },
      isProcessAlive: () => false,
      spawn: () => {
        throw new Error('No command here starts another');
      },
      loadReader: async () => createTableReader(this.tables),
      loadLane: async () => createWalkLane,
      loadStore: async () => {
        throw new Error('no database in this world');
      },
      loadTransport: async () => () => ({
        send: async (call) => {
          if (isDead) return never();
          requests += 1;
          const answer = this.service.receive(call);
          if (requests === death?.after && death.kind === 'kill with a request') {
            die();
            return never();
          }
          return answer;
        },
        close: async () => {},
      }),
    };
    const host: Terminal = {
      env: { KEY: 'k3y' },
      stdin: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: '' }) }) },
      isStdoutTerminal: false,
      isStderrTerminal: false,
      writeStdout: async (text) => {
        stdout += text;
      },
      writeStderr: () => {},
      onSignal: (listener) => {
        hear = listener;
        return () => {};
      },
      leave: () => {
        throw new Error('left');
      },
      createLog: () => ({ info: () => {}, warn: () => {}, error: () => {} }),
      runtime,
    };
    const ended = task(host).then(
      (exitCode) => ({ exitCode, error: undefined, stdout, failed }),
      (error: unknown) => ({ exitCode: -1, error, stdout, failed }),
    );
    return (await Promise.race([ended, died])) ?? { exitCode: undefined, error: undefined, stdout, failed };
  }
}

/** Everything at once, as far as the concurrency goes; a pause is none. */
function createWalkLane({ limits, signal }: RunLaneOptions): Lane {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (_cost, task) => {
      if (running >= limits.concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
      running += 1;
      try {
        if (signal.aborted) throw new LaneStopped();
        return await task(async () => {
          if (signal.aborted) throw new LaneStopped();
        });
      } finally {
        running -= 1;
        waiting.shift()?.();
      }
    },
    pauseFor: () => {},
    slowDown: () => {},
    noteSuccess: () => {},
    close: async () => {},
  };
}
