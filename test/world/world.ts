import type { Store } from '../../src/cluster/store.js';
import type { Terminal } from '../../src/command/terminal.js';
import { createRandom, type Random } from '../../src/sandbox/random.js';
import { CrashDisk } from './crash-disk.js';
import { FaultyService } from './faulty-service.js';
import { type Birth, Process } from './process.js';
import type { InputTable } from './table-reader.js';
import { Timeline } from './timeline.js';
import { Violation } from './violation.js';

/**
 * Disk, clock and service, on which processes live and die. All that happens follows from the seed, and stands in the trace, of which
 * `digest` is that of all lines, also where they are not kept.
 */
export class World {
  readonly timeline: Timeline;
  readonly disk = new CrashDisk();
  readonly service: FaultyService;
  readonly random: Random;
  readonly processes: Process[] = [];
  /** Input files and exports, by path. */
  readonly tables = new Map<string, InputTable>();
  /** How long a request waits at the gate of its lane. */
  turnMs = 1;
  /** Past it no one may still wait for something. */
  endMs = Number.POSITIVE_INFINITY;
  /** A file was synced. */
  onSynced: (path: string) => void = () => {};
  /** A process prints. */
  onPrinted: (process: Process, text: string) => void = () => {};
  /** Connects a process to the database; undefined in a world without. */
  connect: ((process: Process) => Store) | undefined;
  readonly lines: string[] = [];
  readonly #keepsTrace: boolean;
  #digest = 0;
  #nextPid = 100;
  #violation: Violation | undefined;

  constructor(seed: number, keepsTrace = false) {
    this.#keepsTrace = keepsTrace;
    this.timeline = new Timeline(createRandom(seed, 2));
    this.service = new FaultyService(this.timeline, createRandom(seed, 3), this.trace);
    this.random = createRandom(seed, 4);
  }

  readonly trace = (text: string): void => {
    const line = `${Math.round(this.timeline.nowMs)} ${text}`;
    for (let at = 0; at < line.length; at++) this.#digest = (Math.imul(this.#digest, 31) + line.charCodeAt(at)) | 0;
    if (this.#keepsTrace) this.lines.push(line);
  };

  get digest(): string {
    return (this.#digest >>> 0).toString(16).padStart(8, '0');
  }

  /** A violation that is found in the middle of what a process does is kept until the world goes on: it ends the seed. */
  readonly guard = <T>(check: () => T): T | undefined => {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#violation ??= error;
      return undefined;
    }
  };

  /** Gives a command to a new process. */
  start(birth: Birth, command: (terminal: Terminal) => Promise<number>): Process {
    const process = new Process(this, this.#nextPid++, birth);
    this.processes.push(process);
    process.start(command);
    return process;
  }

  isAlive(pid: number): boolean {
    return this.processes.some((process) => process.pid === pid && process.isAlive);
  }

  cutPower(): void {
    for (const process of this.processes) if (process.isOnDisk) process.die('power cut');
    this.disk.cutPower(this.random);
  }

  runUntil(isOver: () => boolean): Promise<void> {
    return this.timeline.runUntil(() => {
      if (this.timeline.nowMs > this.endMs) throw new Violation('no end: something waits for what will not come');
      if (this.#violation !== undefined) throw this.#violation;
      return isOver();
    });
  }

  async pass(forMs: number): Promise<void> {
    let isLater = false;
    this.timeline.schedule(forMs, () => {
      isLater = true;
    });
    await this.runUntil(() => isLater);
  }
}
