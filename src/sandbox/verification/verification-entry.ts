import type { EntryHead } from '../ledger/entry-head.js';
import type { KeptSession } from './kept-session.js';

/** A code that was sent by SMS, or a check that changed a session. The rest is the session as it stood from then on. */
export interface VerificationEntry extends EntryHead, KeptSession {
  readonly area: 'verification';
  readonly event: 'code-sent' | 'code-checked';
}
