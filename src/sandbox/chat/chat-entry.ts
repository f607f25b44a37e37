import type { EntryHead } from '../ledger/entry-head.js';

/** A message that was posted. */
export interface ChatEntry extends EntryHead {
  readonly area: 'chat';
  readonly room: string;
  readonly messageId: string;
  /** Microseconds since 1970, 16 digits; no two messages have the same. */
  readonly timestamp: number;
  /** As it was posted. */
  readonly messageRaw: string;
}
