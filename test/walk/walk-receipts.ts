import type { Terminal } from '../../src/command/terminal.js';
import { anEventLine, aReceipt } from '../listen/events.js';
import type { Taken } from './walk-world.js';

/** Each an end of the receipts of one message; the last one contradicts itself. */
export const STATES = [['sent'], ['delivered'], ['undelivered'], ['read'], ['queued'], ['delivered', 'rejected']];

export function aReceiptOf({ clientMessageId, destination, umid }: Taken, state: string): string {
  return anEventLine(aReceipt({ payload: { clientMessageId, destination, umid }, status: { state } }));
}

/** As the listener does it: each line is durable before it counts. */
export async function appendReceipts({ runtime }: Terminal, directory: string, lines: readonly string[]) {
  if (runtime === undefined) throw new Error('a walk has a world');
  const file = await runtime.files.openAppend(`${directory}/receipts.ndjson`);
  await file.append(Buffer.from(lines.join('')));
  await file.sync();
  await file.close();
  return 0;
}
