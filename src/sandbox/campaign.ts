import { z } from 'zod';
import { type AreaCall, defineRoute, omit, type SandboxArea } from './area.js';
import type { ErrorForm, RefusedRequest } from './http-answer.js';
import type { EntryHead } from './ledger/entry-head.js';

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

/** Campaign status: read under `stats` with the data token, changed under `tstats` with the action token. */
export function createCampaignArea(): SandboxArea {
  const campaigns = new Map<number, KeptCampaign>();
  const reset = () => {
    campaigns.clear();
    for (const campaign of FIRST_CAMPAIGNS) campaigns.set(campaign['campaign-id'], campaign);
  };
  reset();

  const findCampaign = ({ params: { campaignId = '' } }: AreaCall) =>
    /^\d{1,15}$/.test(campaignId) ? campaigns.get(Number(campaignId)) : undefined;

  return {
    name: 'campaign',
    errors: CAMPAIGN_ERRORS,
    routes: [
      defineRoute({
        method: 'GET',
        path: '/api/stats/campaigns/:campaignId.json',
        who: 'dataToken',
        distortions: {
          partial: ({ body }) => ({ campaign: omit(campaignIn(body), 'campaign-id', 'status') }),
          foreign: ({ body }) => ({ campaign: makeAnother(campaignIn(body)) }),
        },
        handle: (call) => {
          const campaign = findCampaign(call);
          return campaign === undefined ? NO_CAMPAIGN : { status: 200, body: { campaign } };
        },
      }),
      defineRoute({
        method: 'POST',
        path: '/api/tstats/campaigns/:campaignId',
        who: 'actionToken',
        distortions: { partial: () => ({}) },
        handle: (call) => {
          const campaign = findCampaign(call);
          if (campaign === undefined) return NO_CAMPAIGN;
          const asked = requestSchema.safeParse(call.body);
          if (!asked.success) return refused('Invalid status.');
          const requested = asked.data.status;
          const status = findNextStatus(campaign, requested);
          if (typeof status === 'string') return refused(status);
          const time = new Date(call.at).toISOString().replace('Z', '+00:00');
          const changed: KeptCampaign = {
            ...campaign,
            status,
            ...(campaign.status === 0 ? { 'actual-run-time': time } : {}),
            ...(requested === 'STOPPED' ? { 'actual-stop-time': time } : {}),
          };
          const entries = [toCampaignRow(changed, requested, campaign.status)];
          return { status: 200, body: { message: 'Campaign status changed.' }, entries };
        },
      }),
    ],
    control: [
      defineRoute({
        method: 'GET',
        path: '/_sandbox/campaigns',
        who: 'anyone',
        handle: () => ({ status: 200, body: [...campaigns.values()] }),
      }),
      /** Sets any field of one, even if the service would refuse; a missing one is created. */
      defineRoute({
        method: 'PUT',
        path: '/_sandbox/campaigns/:campaignId',
        who: 'anyone',
        handle: ({ params: { campaignId = '' }, body }) => {
          if (!/^[1-9]\d{0,8}$/.test(campaignId)) {
            return refused('Cannot set campaign: its id is not a number, expected 1 to 9 digits');
          }
          const written = writtenSchema.safeParse(body);
          if (!written.success) {
            const problems = written.error.issues.map(
              ({ path, message }) => `${path.join('.') || 'the body'}: ${message}`,
            );
            return refused(`Cannot set campaign: ${problems.join('; ')}`);
          }
          const id = Number(campaignId);
          const known = campaigns.get(id);
          // JSON has no undefined: written fields replace, the others stay.
          const campaign = { ...(known ?? aCampaign(id)), ...written.data } as KeptCampaign;
          return { status: 200, body: campaign, entries: [toCampaignRow(campaign, null, known?.status ?? null)] };
        },
      }),
    ],
    apply: (entry) => {
      const { campaign } = entry as unknown as CampaignEntry;
      campaigns.set(campaign['campaign-id'], campaign);
    },
    clear: reset,
  };
}

/** What can be asked of a campaign. */
const requestSchema = z.object({ status: z.enum(['RUNNING', 'PAUSED', 'PURGED', 'STOPPED']) });
type RequestedStatus = z.output<typeof requestSchema>['status'];

/** Groups the twelve numbers for a requested change. */
type Phase = 'new' | 'running' | 'paused' | 'purged' | 'stopped';

/**
 * The contract gives the numbers their meaning and does not say which of them a change sees alike. Here every started
 * campaign counts as running, also 2, whose time has not come: it can be paused and stopped, and is not new any more.
 */
const PHASES: readonly Phase[] = [
  'new', // 0 New
  'running', // 1 Manual Started
  'running', // 2 Scheduled
  'running', // 3 Manual Running
  'running', // 4 Schedule Running
  'stopped', // 5 Manual Stopped
  'stopped', // 6 Completed (Stopped)
  'stopped', // 7 Schedule Stopped
  'paused', // 8 Manual Paused
  'paused', // 9 Schedule Paused
  'purged', // 10 Manual Purged
  'purged', // 11 Schedule Purged
];

/**
 * From which phases a change is allowed, by the service's documentation, and the number that follows: the manual one,
 * since a request is a manual action. Nothing leads out of stopped.
 */
const CHANGES: Readonly<Record<RequestedStatus, { readonly from: readonly Phase[]; readonly status: number }>> = {
  RUNNING: { from: ['new', 'paused', 'purged'], status: 3 },
  PAUSED: { from: ['running'], status: 8 },
  PURGED: { from: ['paused'], status: 10 },
  STOPPED: { from: ['running', 'paused', 'purged'], status: 5 },
};

/** The number of the status that follows, or a text of the service's documentation that says why not. */
function findNextStatus(campaign: KeptCampaign, requested: RequestedStatus): number | string {
  if (campaign['dynamic-campaign'] === 'N') return 'Not a dynamic campaign.';
  if (campaign.enabled === 'N') return 'Campaign is not enabled.';
  const phase = PHASES[campaign.status];
  if (phase === 'stopped') return 'Campaign is already stopped or completed. No operation is allowed.';
  const { from, status } = CHANGES[requested];
  return phase !== undefined && from.includes(phase) ? status : 'Invalid state transition.';
}

const yesOrNo = z.enum(['Y', 'N']);

/** A campaign as the contract's read shows it, names and types. Texts are empty when unset. */
const campaignSchema = z.strictObject({
  'campaign-name': z.string(),
  'campaign-id': z.int().min(1),
  enabled: yesOrNo,
  status: z
    .int()
    .min(0)
    .max(PHASES.length - 1),
  'no-of-records': z.int().min(0),
  'caller-id': z.number(),
  'queue-id': z.int(),
  'start-time': z.string(),
  'end-time': z.string(),
  'actual-stop-time': z.string(),
  'daily-start-time': z.string(),
  'daily-end-time': z.string(),
  /** ISO 8601 with offset. */
  'actual-run-time': z.iso.datetime({ offset: true }),
  'retry-interval': z.int().min(0),
  'max-retry': z.int().min(0),
  'abandon-max-retry': z.string(),
  'max-ring-time': z.int().min(0),
  'integration-type': z.string(),
  'calling-window': z.int().min(0),
  'schedule-name': z.string(),
  timezone: z.string(),
  'dynamic-campaign': yesOrNo,
  sequential: yesOrNo,
});

type KeptCampaign = z.output<typeof campaignSchema>;

const writtenSchema = campaignSchema.omit({ 'campaign-id': true }).partial();

/** A campaign that was never started: enabled, dynamic, status 0. */
function aCampaign(id: number, more: Partial<KeptCampaign> = {}): KeptCampaign {
  return {
    'campaign-name': `campaign ${id}`,
    'campaign-id': id,
    enabled: 'Y',
    status: 0,
    'no-of-records': 1200,
    'caller-id': 6560000000,
    'queue-id': 201,
    'start-time': '',
    'end-time': '',
    'actual-stop-time': '',
    'daily-start-time': '',
    'daily-end-time': '',
    'actual-run-time': '2026-01-05T09:00:00+00:00',
    'retry-interval': 300,
    'max-retry': 3,
    'abandon-max-retry': '',
    'max-ring-time': 30,
    'integration-type': 'Local CRM',
    'calling-window': 0,
    'schedule-name': 'always',
    timezone: 'UTC',
    'dynamic-campaign': 'Y',
    sequential: 'N',
    ...more,
  };
}

/** The initial campaigns of a sandbox: one for each case to try. */
const FIRST_CAMPAIGNS = [
  aCampaign(101, { 'campaign-name': 'running', status: 3 }),
  aCampaign(102, { 'campaign-name': 'paused', status: 8 }),
  aCampaign(103, { 'campaign-name': 'new' }),
  aCampaign(104, { 'campaign-name': 'stopped', status: 5, 'actual-stop-time': '2026-01-05T17:00:00+00:00' }),
  aCampaign(105, { 'campaign-name': 'purged', status: 10 }),
  aCampaign(106, { 'campaign-name': 'not dynamic', status: 3, 'dynamic-campaign': 'N' }),
  aCampaign(107, { 'campaign-name': 'not enabled', status: 3, enabled: 'N' }),
];

/** `from` is the number of the status before. */
function toCampaignRow(campaign: KeptCampaign, requested: RequestedStatus | null, from: number | null) {
  return { campaignId: campaign['campaign-id'], requested, from, status: campaign.status, campaign };
}

const NO_CAMPAIGN: RefusedRequest = { status: 404, message: 'Campaign not found.' };

function refused(message: string): RefusedRequest {
  return { status: 400, message };
}

/** The service's documentation has these with a message; what stands between client and service answers the others. */
const CAMPAIGN_ERRORS: ErrorForm = {
  statuses: {
    206: { message: 'The request was sent but the response timed out.' },
    400: { message: 'Invalid state transition.' },
    401: { message: 'Not authorized.' },
    404: { message: 'Campaign not found.' },
    413: { message: 'Request body is too large' },
    500: { message: 'Internal server error' },
  },
  body: (_, message) => ({ message }),
};

function campaignIn(body: unknown): KeptCampaign {
  return (body as { campaign: KeptCampaign }).campaign;
}

/** An unrelated campaign, in another status. */
function makeAnother(campaign: KeptCampaign): KeptCampaign {
  const status = campaign.status === 0 ? 5 : 0;
  return { ...campaign, 'campaign-id': campaign['campaign-id'] + 1_000_000, status };
}
