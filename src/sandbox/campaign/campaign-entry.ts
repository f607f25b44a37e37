import type { EntryHead, Fields } from '../ledger/entry-head.js';
import type { KeptCampaign } from './campaign-fields.js';
import type { RequestedStatus } from './transition.js';

/** A campaign that was changed: by a request, or by a person through `/_sandbox`. */
export interface CampaignEntry extends EntryHead {
  readonly area: 'campaign';
  readonly campaignId: number;
  /** Null when it came through `/_sandbox`. */
  readonly requested: RequestedStatus | null;
  /** Number of the status before; null for a campaign that was not there. */
  readonly from: number | null;
  /** Number of the status from then on. */
  readonly status: number;
  /** What the service holds from then on. */
  readonly campaign: KeptCampaign;
}

/** `from` is the number of the status before. */
export function toCampaignRow(
  campaign: KeptCampaign,
  requested: RequestedStatus | null,
  from: number | null,
): Omit<CampaignEntry, keyof EntryHead | 'area'> & Fields {
  const { 'campaign-id': campaignId, status } = campaign;
  return { campaignId, requested, from, status, campaign };
}
