import type { Random } from '../../src/sandbox/random.js';

interface Event {
  readonly atMs: number;
  /** Breaks ties by chance: things of the same moment come in any order. */
  readonly tie: number;
  readonly process: SimProcess | undefined;
  readonly act: () => void;
}

/** A process of the simulation: once it is dead, nothing that it began is heard of again. */
export interface SimProcess {
  readonly name: string;
  isAlive: boolean;
  /** Until then it is stopped, as by SIGSTOP; what is due meanwhile comes when it wakes. */
  stoppedUntilMs: number;
}

/** When it begins, in ms since 1970. */
export const NOON = Date.parse('2026-11-21T12:00:00Z');

/** Time that passes only from event to event. All waiting of a simulation goes through here, so a seed gives one course of events. */
export class Timeline {
  nowMs = 0;
  readonly #random: Random;
  #events: Event[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Calls back after `delayMs`; never where the process has died by then. */
  schedule(delayMs: number, act: () => void, process?: SimProcess): void {
    this.#insert({ atMs: this.nowMs + Math.max(0, delayMs), tie: this.#random(), process, act });
  }

  /** Lets events happen until `isOver`; throws where nothing is left that could bring that about. */
  async runUntil(isOver: () => boolean): Promise<void> {
    let idle = 0;
    while (!isOver()) {
      const event = this.#events.shift();
      if (event === undefined) {
        // A module that is loaded for the first time takes real time; everything else is an event.
        idle += 1;
        if (idle > 500) throw new Error('the simulation hangs: nothing is left that could happen');
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      idle = 0;
      this.nowMs = Math.max(this.nowMs, event.atMs);
      const { process } = event;
      if (process !== undefined && !process.isAlive) continue;
      if (process !== undefined && process.stoppedUntilMs > this.nowMs) {
        this.#insert({ ...event, atMs: process.stoppedUntilMs });
        continue;
      }
      event.act();
      await drainMicrotasks();
    }
  }

  #insert(event: Event): void {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#events[middle]!;
      if (other.atMs < event.atMs || (other.atMs === event.atMs && other.tie <= event.tie)) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
  }
}

/** All that follows from an event without waiting has happened once this resolves. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
