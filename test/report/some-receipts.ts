import { anEventLine, aReceipt } from '../listen/events.js';
import { aNumber, type MadePlan } from '../plan/a-plan.js';

interface Said {
  readonly state?: string;
  /** Second of its minute. */
  readonly at?: number;
  readonly step?: number;
  readonly payload?: object;
  readonly status?: object;
}

/** The line of a receipt of a planned row, as the listener writes it; the plan's rows have the numbers `aNumber(0)` and on. */
export function aReceiptLine({ plan }: Pick<MadePlan, 'plan'>, row: number, said: Said = {}): string {
  const { state = 'delivered', at = 0, step = 1, payload, status } = said;
  return anEventLine(
    aReceipt({
      payload: {
        umid: `m-${row}`,
        clientMessageId: `${plan.id}-${step}-${row}`,
        destination: aNumber(row),
        ...payload,
      },
      status: { state, timestamp: `2026-11-21T12:00:${String(at).padStart(2, '0')}Z`, ...status },
    }),
  );
}

/** Makes these lines the run's file of receipts. */
export function receive({ disk, directory }: Pick<MadePlan, 'disk' | 'directory'>, ...lines: string[]): void {
  disk.write(`${directory}/receipts.ndjson`, lines.join(''));
}
