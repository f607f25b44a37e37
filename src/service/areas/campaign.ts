import { CAMPAIGN_TIMED_OUT_STATUS, type CampaignTarget } from '../../domain/documented.js';
import { UserError } from '../../domain/errors.js';
import { isObject } from '../../domain/is-object.js';
import { type Response, readJsonBody } from '../answer.js';
import { type Endpoint, encodeJson, getRequest, jsonRequest } from '../endpoint.js';
import { readInteger, readText } from '../json-value.js';
import { isCampaignStatus } from './campaign-states.js';

export interface CampaignInput {
  readonly campaignId: number;
}

export interface CampaignChange extends CampaignInput {
  readonly target: CampaignTarget;
}

/** Contract: "Campaign (status read response)". */
export interface Campaign {
  readonly id: number;
  /** '' where the answer has none. */
  readonly name: string;
  /** 0 to 11; campaign-states.ts says what they mean. */
  readonly status: number;
  /** Undefined where the answer says neither Y nor N. */
  readonly isEnabled: boolean | undefined;
  readonly isDynamic: boolean | undefined;
  readonly recordCount: number | undefined;
  /** All that the answer has, under the contract's names. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Contract: "Campaign (status read response)", all of it, in its order. */
export const CAMPAIGN_FIELDS = [
  'campaign-name',
  'campaign-id',
  'enabled',
  'status',
  'no-of-records',
  'caller-id',
  'queue-id',
  'start-time',
  'end-time',
  'actual-stop-time',
  'daily-start-time',
  'daily-end-time',
  'actual-run-time',
  'retry-interval',
  'max-retry',
  'abandon-max-retry',
  'max-ring-time',
  'integration-type',
  'calling-window',
  'schedule-name',
  'timezone',
  'dynamic-campaign',
  'sequential',
] as const;

/** Endpoint 6, with the Data Request Token: `stats`, and `.json` at the end. */
export const readCampaign: Endpoint<CampaignInput, Campaign> = {
  name: 'read a campaign',
  area: 'campaign',
  isRepeatable: () => true,
  request: ({ bases }, { campaignId }) =>
    getRequest({ base: bases.campaign, path: `/api/stats/campaigns/${encodeCampaignId(campaignId)}.json` }),
  read: (response, { campaignId }) => {
    const campaign = readCampaignBody(readJsonBody(response));
    return campaign?.id === campaignId ? campaign : undefined;
  },
};

/**
 * Endpoint 7, with the Action Request Token: `tstats`, and nothing at the end. Not idempotent: repeated, it is refused
 * or overwrites a later change. An unknown outcome, also HTTP 206, is resolved by `readCampaign`.
 */
export const changeCampaign: Endpoint<CampaignChange, { readonly message: string }> = {
  name: 'change a campaign',
  area: 'campaign',
  isRepeatable: () => false,
  request: ({ bases }, { campaignId, target }) =>
    jsonRequest(
      { base: bases.campaign, path: `/api/tstats/campaigns/${encodeCampaignId(campaignId)}` },
      encodeJson({ status: target }),
    ),
  read: readChange,
};

/** Undefined for a body that does not say which campaign it is, or has no status that the contract lists. */
export function readCampaignBody(body: unknown): Campaign | undefined {
  const campaign = isObject(body) ? body.campaign : undefined;
  if (!isObject(campaign)) return undefined;
  const {
    'campaign-id': writtenId,
    'campaign-name': name,
    status: writtenStatus,
    enabled,
    'dynamic-campaign': dynamic,
    'no-of-records': records,
  } = campaign;
  const id = readInteger(writtenId);
  const status = readInteger(writtenStatus);
  if (id === undefined || status === undefined || !isCampaignStatus(status)) return undefined;
  return {
    id,
    name: readText(name) ?? '',
    status,
    isEnabled: readYesOrNo(enabled),
    isDynamic: readYesOrNo(dynamic),
    recordCount: readInteger(records),
    fields: campaign,
  };
}

function readChange(response: Response): { message: string } | undefined {
  if (response.status === CAMPAIGN_TIMED_OUT_STATUS) return undefined;
  const body = readJsonBody(response);
  const message = isObject(body) ? readText(body.message) : undefined;
  return message === undefined ? undefined : { message };
}

function readYesOrNo(value: unknown): boolean | undefined {
  return value === 'Y' || value === 'N' ? value === 'Y' : undefined;
}

function encodeCampaignId(campaignId: number): string {
  if (Number.isSafeInteger(campaignId) && campaignId > 0) return String(campaignId);
  throw new UserError(
    'bad-input',
    `Cannot form an address: ${campaignId} is not a campaign id, expected a whole number`,
  );
}
