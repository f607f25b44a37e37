import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import { CAMPAIGN_TIMED_OUT_STATUS, type CampaignTarget, ENDPOINTS } from '../../domain/service-facts.js';
import type { CampaignState } from '../../job/job.js';
import { readInteger, readJsonBody, readText } from '../answer.js';
import { defineEndpoint } from '../endpoint.js';

export interface CampaignInput {
  readonly campaignId: number;
}

export interface CampaignChange extends CampaignInput {
  readonly target: CampaignTarget;
}

export const readCampaign = defineEndpoint(
  ENDPOINTS.readCampaign,
  (input: CampaignInput) => ({ ids: writeId(input) }),
  (response, { campaignId }) => {
    const campaign = readCampaignBody(readJsonBody(response));
    return campaign?.id === campaignId ? campaign : undefined;
  },
);

export const changeCampaign = defineEndpoint(
  ENDPOINTS.changeCampaign,
  ({ target, ...input }: CampaignChange) => ({ ids: writeId(input), body: { status: target } }),
  (response) => {
    if (response.status === CAMPAIGN_TIMED_OUT_STATUS) return undefined;
    const body = readJsonBody(response);
    const message = isObject(body) ? readText(body.message) : undefined;
    return message === undefined ? undefined : { message };
  },
);

function writeId({ campaignId }: CampaignInput): { campaignId: string } {
  if (Number.isSafeInteger(campaignId) && campaignId > 0) return { campaignId: String(campaignId) };
  throw new UserError(
    'bad-input',
    `Cannot form an address: ${campaignId} is not a campaign id, expected a whole number`,
  );
}

/**
 * The twelve numbers of a campaign's status. Contract: "States and transitions", Campaign; the words are its own.
 */
const STATUSES: readonly { readonly state: CampaignState; readonly meaning: string }[] = [
  { state: 'NEW', meaning: 'new: created, not started or scheduled' },
  { state: 'RUNNING', meaning: 'manual started: started manually' },
  { state: 'SCHEDULED', meaning: 'scheduled: started with a scheduled start time not yet reached' },
  { state: 'RUNNING', meaning: 'manual running: started manually without schedule, runs at once' },
  { state: 'RUNNING', meaning: 'schedule running: scheduled start time reached, running' },
  { state: 'STOPPED', meaning: 'manual stopped: stopped manually' },
  { state: 'STOPPED', meaning: 'completed: all records completed, stopped' },
  { state: 'STOPPED', meaning: 'schedule stopped: stopped because the scheduled stop time was reached' },
  { state: 'PAUSED', meaning: 'manual paused: paused, queued records continue to be processed' },
  { state: 'PAUSED', meaning: 'schedule paused' },
  { state: 'PURGED', meaning: 'manual purged: paused and records in the queues flushed as appropriate' },
  { state: 'PURGED', meaning: 'schedule purged' },
];

/** Contract: "Campaign (status read response)". */
export type Campaign = Readonly<NonNullable<ReturnType<typeof readCampaignBody>>>;

/** Reads a campaign; undefined for a body that does not say which one it is, or has no status that the contract lists. */
export function readCampaignBody(body: unknown) {
  const fields = isObject(body) ? body.campaign : undefined;
  if (!isObject(fields)) return undefined;
  const id = readInteger(fields['campaign-id']);
  const status = readInteger(fields.status);
  const found = STATUSES[status ?? -1];
  if (id === undefined || status === undefined || found === undefined) return undefined;
  return {
    id,
    /** '' where the answer has none. */
    name: readText(fields['campaign-name']) ?? '',
    /** 0 to 11. */
    status,
    /** What that number amounts to. */
    state: found.state,
    /** The contract's name for it. */
    meaning: found.meaning,
    /** Whether it is enabled; undefined where the answer says neither Y nor N. */
    isEnabled: readYesOrNo(fields.enabled),
    isDynamic: readYesOrNo(fields['dynamic-campaign']),
    recordCount: readInteger(fields['no-of-records']),
    /** All that the answer has, under the contract's names. */
    fields,
  };
}

function readYesOrNo(value: unknown): boolean | undefined {
  return value === 'Y' || value === 'N' ? value === 'Y' : undefined;
}

/** Documented, in the guide's words for a state. Nothing leads out of stopped. */
export const CAMPAIGN_CHANGES: Readonly<Record<CampaignTarget, readonly CampaignState[]>> = {
  RUNNING: ['NEW', 'PAUSED', 'PURGED'],
  PAUSED: ['RUNNING'],
  PURGED: ['PAUSED'],
  STOPPED: ['RUNNING', 'PAUSED', 'PURGED'],
};

/**
 * Whether a campaign can be brought to `target`, without asking the service: `none` where it is there already, `refused`
 * where the service would refuse it.
 *
 * SCHEDULED (2) is not NEW: the contract calls it "started", and NEW "not started or scheduled". So it counts as
 * running where the table says running: it can be paused and stopped. It is not RUNNING either, since it does not dial
 * yet: it has not reached RUNNING, and RUNNING is not allowed from it.
 */
export function planChange(
  campaign: Campaign,
  target: CampaignTarget,
): { readonly kind: 'none' | 'change' } | { readonly kind: 'refused'; readonly reason: string } {
  const { id, state, meaning, isDynamic, isEnabled } = campaign;
  const refuse = (why: string) => ({ kind: 'refused', reason: `campaign ${id} is ${why}` }) as const;
  if (state === target) return { kind: 'none' };
  if (isDynamic === false) return refuse('not a dynamic campaign: its status cannot be changed by a call');
  if (isEnabled === false) return refuse('not enabled: enable it in the configuration manager first');
  if (state === 'STOPPED') return refuse(`stopped (${meaning}) and cannot be restarted`);
  if (CAMPAIGN_CHANGES[target].includes(state === 'SCHEDULED' ? 'RUNNING' : state)) return { kind: 'change' };
  const now = state === 'SCHEDULED' ? 'scheduled and begins at its time' : `${state} (${meaning})`;
  return refuse(`${now}: ${target} is allowed from ${CAMPAIGN_CHANGES[target].join(', ')} only`);
}
