import { CAMPAIGN_CHANGES, type CampaignTarget } from '../../domain/documented.js';
import type { Campaign } from './campaign.js';
import { meaningOf, stateOf } from './campaign-states.js';

/**
 * Which changes of a campaign can be made: documented.ts has the table.
 *
 * SCHEDULED (2) is not NEW: the contract calls it "started", and NEW "not started or scheduled". So it counts as
 * running where the table says running: it can be paused and stopped. It is not RUNNING either, since it does not dial
 * yet: it has not reached RUNNING, and RUNNING is not allowed from it.
 */
export type CampaignPlan =
  /** Already in the requested state. */
  | { readonly kind: 'none' }
  | { readonly kind: 'change' }
  /** The service would refuse it. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Whether a campaign can be brought to `target`, without asking the service. */
export function planChange(campaign: Campaign, target: CampaignTarget): CampaignPlan {
  const state = stateOf(campaign.status);
  if (state === target) return { kind: 'none' };
  const reason = findObstacle(campaign, target);
  return reason === undefined ? { kind: 'change' } : { kind: 'refused', reason };
}

function findObstacle({ id, status, isDynamic, isEnabled }: Campaign, target: CampaignTarget): string | undefined {
  const state = stateOf(status);
  const name = `campaign ${id}`;
  if (isDynamic === false) return `${name} is not a dynamic campaign: its status cannot be changed by a call`;
  if (isEnabled === false) return `${name} is not enabled: enable it in the configuration manager first`;
  if (state === 'STOPPED') return `${name} is stopped (${meaningOf(status)}) and cannot be restarted`;
  if (CAMPAIGN_CHANGES[target].includes(state === 'SCHEDULED' ? 'RUNNING' : state)) return undefined;
  const from = CAMPAIGN_CHANGES[target].join(', ');
  if (state === 'SCHEDULED')
    return `${name} is scheduled and begins at its time: ${target} is allowed from ${from} only`;
  return `${name} is ${state} (${meaningOf(status)}): ${target} is allowed from ${from} only`;
}
