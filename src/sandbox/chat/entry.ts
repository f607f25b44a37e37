import type { EntryHead } from '../ledger/entry-head.js';

export interface ChatEntry extends EntryHead {
  readonly area: 'chat';
}
