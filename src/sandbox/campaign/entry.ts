import type { EntryHead } from '../ledger/entry-head.js';

export interface CampaignEntry extends EntryHead {
  readonly area: 'campaign';
}
