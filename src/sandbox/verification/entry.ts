import type { EntryHead } from '../ledger/entry-head.js';

export interface VerificationEntry extends EntryHead {
  readonly area: 'verification';
}
