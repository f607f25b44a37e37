import { sessionOf } from './scenario.js';
import type { Ledger } from './sim-ledger.js';

/** A planned row, by all that the service knows it by. */
export interface LedgerRow {
  readonly kind: string;
  readonly name: string;
  readonly mobile: string;
  readonly messageId: string;
}

/** How often the service did what a row asks for; a contact that is there was made once. */
export function timesOf(ledger: Ledger, { kind, name, mobile }: LedgerRow): number {
  switch (kind) {
    case 'sms':
      return ledger.sent.get(mobile) ?? 0;
    case 'contacts':
      return ledger.contacts.has(mobile) ? 1 : 0;
    case 'conversations':
      return ledger.conversations.get(name) ?? 0;
    case 'verification.start':
      return ledger.codes.get(mobile) ?? 0;
    case 'verification.check':
      return ledger.checks.get(sessionOf(name)) ?? 0;
    default:
      throw new Error(`the ledger knows no rows of ${kind}`);
  }
}

/** Whether the service took a row: what is accepted, it did; what is rejected, it did not. */
export function isTaken(ledger: Ledger, row: LedgerRow): boolean {
  if (row.kind === 'sms') return ledger.messages.has(row.messageId);
  if (row.kind === 'verification.check') return ledger.verified.has(sessionOf(row.name));
  return timesOf(ledger, row) > 0;
}
