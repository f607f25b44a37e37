import { RECEIPTS_FILE } from '../../src/plan/format/plan-file.js';
import { anEventLine, aReceipt } from '../listen/events.js';
import { createSimFiles } from '../world/sim-files.js';
import { NOON } from '../world/timeline.js';
import type { World } from '../world/world.js';

/** A process may have counted so long before its line was durable. */
const COUNTING_MS = 130_000;

/** Delivery receipts of a run, as a receiver stores them beside it; no message has more than one. */
export class SimReceipts {
  readonly #world: World;
  /** By number. */
  readonly #known = new Map<string, { readonly isDelivered: boolean; readonly atMs: number }>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Those of most messages that have none come, most of them good. */
  async come(directory: string | undefined): Promise<void> {
    const { disk, random, service, timeline, trace } = this.#world;
    if (directory === undefined) return;
    const plan = directory.slice(directory.lastIndexOf('-') + 1);
    const lines = service.service.ledger.flatMap((entry) => {
      if (entry.area !== 'sms' || entry.clientMessageId?.startsWith(`${plan}-`) !== true) return [];
      const { clientMessageId, destination, umid } = entry;
      if (this.#known.has(destination) || random() < 0.2) return [];
      const isDelivered = random() < 0.85;
      this.#known.set(destination, { isDelivered, atMs: timeline.nowMs });
      const status = { state: isDelivered ? 'delivered' : 'undelivered' };
      return [anEventLine(aReceipt({ payload: { clientMessageId, destination, umid }, status }))];
    });
    const files = createSimFiles(disk, async (_name, act) => act(), { pid: 2, nowMs: () => NOON + timeline.nowMs });
    const file = await files.openAppend(`${directory}/${RECEIPTS_FILE}`);
    await file.append(Buffer.from(lines.join('')));
    await file.sync();
    await file.close();
    trace(`${lines.length} receipts come`);
  }

  /** Why a stage may not pass that was judged just now; undefined where it may. `expected`: how many messages may have a receipt. */
  judge(
    numbers: readonly string[],
    counted: { readonly delivered: number; readonly undelivered: number } | undefined,
    { most = 100, least = 0, expected }: { most: number | undefined; least: number | undefined; expected: number },
  ): string | undefined {
    if (counted === undefined) return 'no receipt was looked at';
    const known = numbers.flatMap((number) => this.#known.get(number) ?? []);
    const count = (isDelivered: boolean, untilMs: number) =>
      known.filter((each) => each.isDelivered === isDelivered && each.atMs <= untilMs).length;
    const { nowMs } = this.#world.timeline;
    const { delivered, undelivered } = counted;
    if (delivered > count(true, nowMs) || undelivered > count(false, nowMs)) return 'counts receipts that did not come';
    if (undelivered < count(false, nowMs - COUNTING_MS)) return 'counts fewer bad receipts than came';
    const final = delivered + undelivered;
    if (expected > 0 && (final === 0 || final * 100 < least * expected)) return `has ${final} of ${expected} receipts`;
    return undelivered * 100 > most * final ? `${undelivered} of ${final} were not delivered` : undefined;
  }
}
