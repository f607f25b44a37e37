import type { Terminal } from '../../src/command/terminal.js';
import { createRandom, type Random } from '../../src/sandbox/random.js';
import type { ExportCells } from '../settle/an-export.js';
import type { FaultRates } from '../world/faulty-service.js';
import type { Mishap } from '../world/process.js';
import { NOON } from '../world/timeline.js';
import { World } from '../world/world.js';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
/** No command takes as long. */
const LONGEST_MS = 24 * HOUR;

/** What an SMS request comes to is drawn anew each time, so what is refused once may be taken the next time. */
const FAULTS: FaultRates = {
  ...{ rowsRefused: 0.12, refused: 0.06, busy: 0.05, unauthorized: 0.04, notSent: 0.04 },
  ...{ lostBefore: 0.07, lostAfter: 0.06, proxy: 0.04, late: 0.04, badAnswer: 0.05 },
};

/** A message that the service took: the judge of every walk. */
export type Taken = Readonly<{ clientMessageId: string; destination: string; umid: string; createdMs: number }>;

export interface Ended {
  /** Undefined: the process died. */
  readonly exitCode: number | undefined;
  readonly error: unknown;
  readonly stdout: string;
  /** The operation that the disk failed. */
  readonly failed: string | undefined;
}

/** A disk, a clock and a service, on which one command after the other is given, each by a process of its own. */
export class WalkWorld extends World {
  /** Messages of others in the same subaccount. */
  readonly #others: Taken[] = [];

  constructor(seed: number) {
    super(seed);
    this.service.faults = FAULTS;
  }

  get taken(): Taken[] {
    return this.service.service.ledger.flatMap((entry) =>
      entry.area === 'sms' && entry.clientMessageId !== null
        ? [{ ...entry, clientMessageId: entry.clientMessageId, createdMs: Date.parse(entry.at) }]
        : [],
    );
  }

  /** From now on the service takes all, and answers at once. */
  endFaults(): void {
    this.service.faults = {};
  }

  /** Someone else sends something meanwhile. */
  override async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 20 * MINUTE) {
      this.endMs = Number.POSITIVE_INFINITY;
      await super.pass(Math.min(left, 20 * MINUTE));
      const id = `other-${this.#others.length}`;
      const destination = this.#others.length % 3 === 0 ? '+60123456789' : '+6598765432';
      this.#others.push({ clientMessageId: id, destination, umid: id, createdMs: this.#nowMs });
    }
  }

  /** Gives a command to a new process, and waits for its end or its death. */
  async give(command: (host: Terminal) => Promise<number>, mishap?: Mishap): Promise<Ended> {
    this.endMs = this.timeline.nowMs + LONGEST_MS;
    const process = this.start({ host: 'desk', mishap }, command);
    await this.runUntil(() => process.isOver);
    const { exitCode, error, stdout, failed } = process;
    // The machine starts again, and is another host to the lock: that of the dead process has to expire.
    if (mishap?.kind === 'power' && exitCode === undefined) await this.pass(2 * MINUTE);
    return { exitCode, error, stdout, failed };
  }

  /** Whether the service has taken a message, or has it on its way. */
  hasSeen(clientMessageId: string): boolean {
    const isIt = (message: { readonly clientMessageId: string | null }) => message.clientMessageId === clientMessageId;
    const coming = [...this.service.coming].map(({ body }) => body as { messages: readonly Taken[] });
    return this.taken.some(isIt) || coming.some(({ messages }) => messages.some(isIt));
  }

  /** The message export, asked for in one of the ways in which it can be: its range of time, filters, a limit, a broken download. */
  exportMessages(seed: number): ExportCells[] {
    const random = createRandom(seed);
    const { taken } = this;
    const isWhole = random() < 0.5;
    const now = this.#nowMs;
    const fromMs = isWhole || random() < 0.5 ? 0 : now - random() * 30 * HOUR;
    const toMs = isWhole || random() < 0.5 ? now : now - random() * 6 * HOUR;
    const country = !isWhole && random() < 0.2 ? countryOf(pick(['+65', '+60'], random)) : undefined;
    const number = !isWhole && random() < 0.15 ? pick(taken, random)?.destination : undefined;
    const all = [...taken, ...this.#others]
      .filter(({ createdMs }) => createdMs >= fromMs && createdMs <= toMs)
      .filter(({ destination }) => country === undefined || countryOf(destination) === country)
      .filter(({ destination }) => number === undefined || destination === number)
      .sort((one, other) => one.createdMs - other.createdMs);
    const count = !isWhole && random() < 0.3 ? Math.floor(random() * (all.length + 1)) : all.length;
    const rows = random() < 0.5 ? all.slice(0, count) : all.slice(all.length - count);
    const isMasked = random() < 0.5;
    // One that is asked for in time may hold messages that are not sent yet.
    const states = ['sent', 'delivered', 'undelivered', ...(isWhole ? [] : ['queued'])];
    return rows.map(({ clientMessageId, destination, umid }) => ({
      ...{ umid, clientmessageid: clientMessageId, subaccountid: 'acme_hq', direction: '1' },
      status_value: pick(states, random),
      msisdn: isMasked ? `${destination.slice(1, 5)}******` : destination,
    }));
  }

  get #nowMs(): number {
    return NOON + Math.round(this.timeline.nowMs);
  }
}

function countryOf(number: string): string {
  return number.startsWith('+60') ? 'MY' : 'SG';
}

export function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)]!;
}
