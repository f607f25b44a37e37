import type { EntryHead } from '../ledger/entry-head.js';

export interface GatewayEntry extends EntryHead {
  readonly area: 'gateway';
}
