import { z } from 'zod';
import { isObject } from '../domain/is-object.js';
import { type AreaCall, type AreaEntry, defineRoute, type SandboxArea } from './area.js';
import type { ErrorForm, RefusedRequest } from './http-answer.js';

/** A campaign that was changed: by a request, or by a person through `/_sandbox`. */
export type CampaignEntry = AreaEntry<'campaign', CampaignRow>;

type CampaignRow = Readonly<ReturnType<typeof toCampaignRow>>;

/** Campaign status: read under `stats` with the data token, changed under `tstats` with the action token. */
export function createCampaignArea(): SandboxArea {
  const campaigns = new Map<number, KeptCampaign>();
  const reset = () => {
    campaigns.clear();
    for (const given of FIRST_CAMPAIGNS) {
      const campaign = campaignSchema.parse(given);
      campaigns.set(campaign['campaign-id'], campaign);
    }
  };
  reset();

  const findCampaign = ({ params: { campaignId = '' } }: AreaCall) =>
    /^\d{1,15}$/.test(campaignId) ? campaigns.get(Number(campaignId)) : undefined;

  return {
    name: 'campaign',
    errors: CAMPAIGN_ERRORS,
    routes: [
      defineRoute('GET /api/stats/campaigns/:campaignId.json', 'dataToken', {
        handle: (call) => {
          const campaign = findCampaign(call);
          return campaign === undefined ? { status: 404 } : { status: 200, body: { campaign } };
        },
      }),
      defineRoute('POST /api/tstats/campaigns/:campaignId', 'actionToken', {
        handle: (call) => {
          const campaign = findCampaign(call);
          if (campaign === undefined) return { status: 404 };
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
      defineRoute('GET /_sandbox/campaigns', 'anyone', {
        handle: () => ({ status: 200, body: [...campaigns.values()] }),
      }),
      /** Sets any field of one, even if the service would refuse; a missing one is created. */
      defineRoute('PUT /_sandbox/campaigns/:campaignId(^[1-9]\\d{0,8}$)', 'anyone', {
        handle: ({ params: { campaignId }, body }) => {
          const id = Number(campaignId);
          const known = campaigns.get(id);
          const named = { 'campaign-name': `campaign ${id}`, 'campaign-id': id, ...known };
          const written = campaignSchema
            .extend({ 'campaign-id': z.literal(id) })
            .safeParse(isObject(body) ? { ...named, ...body } : body);
          if (!written.success) return refused(`Cannot set campaign: ${z.prettifyError(written.error)}`);
          return {
            status: 200,
            body: written.data,
            entries: [toCampaignRow(written.data, null, known?.status ?? null)],
          };
        },
      }),
    ],
    apply: ({ campaign }: CampaignRow) => void campaigns.set(campaign['campaign-id'], campaign),
    clear: reset,
  };
}

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

const text = (usual = '') => z.string().default(usual);
const count = (usual: number) => z.int().min(0).default(usual);
const yesOrNo = (usual: 'Y' | 'N') => z.enum(['Y', 'N']).default(usual);

/** A campaign as the contract's read shows it, names and types; by default one that was never started. Texts are empty when unset. */
const campaignSchema = z.strictObject({
  'campaign-name': z.string(),
  'campaign-id': z.int().min(1),
  enabled: yesOrNo('Y'),
  status: count(0).pipe(z.int().max(PHASES.length - 1)),
  'no-of-records': count(1200),
  'caller-id': z.number().default(6560000000),
  'queue-id': z.int().default(201),
  'start-time': text(),
  'end-time': text(),
  'actual-stop-time': text(),
  'daily-start-time': text(),
  'daily-end-time': text(),
  'actual-run-time': z.iso.datetime({ offset: true }).default('2026-01-05T09:00:00+00:00'),
  'retry-interval': count(300),
  'max-retry': count(3),
  'abandon-max-retry': text(),
  'max-ring-time': count(30),
  'integration-type': text('Local CRM'),
  'calling-window': count(0),
  'schedule-name': text('always'),
  timezone: text('UTC'),
  'dynamic-campaign': yesOrNo('Y'),
  sequential: yesOrNo('N'),
});

type KeptCampaign = z.output<typeof campaignSchema>;

/** The initial campaigns of a sandbox: one for each case to try. */
const FIRST_CAMPAIGNS: readonly z.input<typeof campaignSchema>[] = [
  { 'campaign-id': 101, 'campaign-name': 'running', status: 3 },
  { 'campaign-id': 102, 'campaign-name': 'paused', status: 8 },
  { 'campaign-id': 103, 'campaign-name': 'new' },
  { 'campaign-id': 104, 'campaign-name': 'stopped', status: 5, 'actual-stop-time': '2026-01-05T17:00:00+00:00' },
  { 'campaign-id': 105, 'campaign-name': 'purged', status: 10 },
  { 'campaign-id': 106, 'campaign-name': 'not dynamic', status: 3, 'dynamic-campaign': 'N' },
  { 'campaign-id': 107, 'campaign-name': 'not enabled', status: 3, enabled: 'N' },
];

/** What the service holds from then on. `requested`: null when it came through `/_sandbox`; `from`: null for a campaign that was not there. */
function toCampaignRow(campaign: KeptCampaign, requested: RequestedStatus | null, from: number | null) {
  return { campaignId: campaign['campaign-id'], requested, from, status: campaign.status, campaign };
}

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
