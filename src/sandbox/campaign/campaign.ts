import type { AreaCall, AreaDeps, SandboxArea } from '../area.js';
import type { BasicToken } from '../check-credentials.js';
import { answerJson, type HttpAnswer } from '../http-answer.js';
import { addCampaignControl } from './campaign-control.js';
import { type CampaignEntry, toCampaignRow } from './campaign-entry.js';
import { createFirstCampaigns, type KeptCampaign } from './campaign-fields.js';
import { findTransition, isRequestedStatus, type RequestedStatus, type Transition } from './transition.js';

/** Campaign status: read under `stats` with the data token, changed under `tstats` with the action token. */
export function createCampaignArea({ clock, keyring, ledger }: AreaDeps): SandboxArea {
  const campaigns = new Map<number, KeptCampaign>();

  const put = (campaign: KeptCampaign) => campaigns.set(campaign['campaign-id'], campaign);

  const reset = () => {
    campaigns.clear();
    for (const campaign of createFirstCampaigns()) put(campaign);
  };
  reset();

  const authorizeWith =
    (token: BasicToken) =>
    ({ headers }: AreaCall) =>
      keyring.refuseBasic(headers.authorization, token, clock.now());

  const findCampaign = ({ params: { campaignId = '' } }: AreaCall) =>
    /^\d{1,15}$/.test(campaignId) ? campaigns.get(Number(campaignId)) : undefined;

  const readCampaign = async (call: AreaCall): Promise<HttpAnswer> => {
    const campaign = findCampaign(call);
    return campaign === undefined ? answerMessage(404, NOT_FOUND) : answerJson(200, { campaign });
  };

  const changeCampaign = async (call: AreaCall): Promise<HttpAnswer> => {
    const now = clock.now();
    return ledger.accept({ at: now, area: 'campaign', request: call.number }, () => {
      const refuse = (status: number, message: string) => ({ answer: () => answerMessage(status, message) });
      const campaign = findCampaign(call);
      if (campaign === undefined) return refuse(404, NOT_FOUND);
      const requested = readStatus(call.body);
      if (!isRequestedStatus(requested)) return refuse(400, 'Invalid status.');
      const transition = findTransitionOf(campaign, requested);
      if ('refusal' in transition) return refuse(400, transition.refusal);
      const time = new Date(now).toISOString().replace('Z', '+00:00');
      const isNew = campaign.status === 0;
      const changed = {
        ...campaign,
        status: transition.status,
        ...(isNew ? { 'actual-run-time': time } : {}),
        ...(requested === 'STOPPED' ? { 'actual-stop-time': time } : {}),
      };
      const row = toCampaignRow(changed, requested, campaign.status);
      return { rows: [row], answer: () => answerMessage(200, 'Campaign status changed.') };
    });
  };

  return {
    name: 'campaign',
    routes: [
      {
        method: 'GET',
        path: '/api/stats/campaigns/:campaignId.json',
        takesBody: false,
        authorize: authorizeWith('data'),
        recipients: () => [],
        handle: readCampaign,
        distortions: {
          partial: ({ body }) => leaveStatusOut(body as ReadBody),
          foreign: ({ body }) => giveAnother(body as ReadBody),
        },
      },
      {
        method: 'POST',
        path: '/api/tstats/campaigns/:campaignId',
        // An unreadable body has no status: the area's own error refuses it.
        takesBody: false,
        authorize: authorizeWith('action'),
        recipients: () => [],
        handle: changeCampaign,
        distortions: { partial: () => ({}) },
      },
    ],
    apply: (rows) => {
      for (const { campaign } of rows as unknown as readonly CampaignEntry[]) put(campaign);
    },
    clear: reset,
    bodyOfStatus,
    addControl: (app) => addCampaignControl(app, { campaigns, ledger, now: () => clock.now() }),
  };
}

interface ReadBody {
  readonly campaign: KeptCampaign;
}

const NOT_FOUND = 'Campaign not found.';

function findTransitionOf(campaign: KeptCampaign, requested: RequestedStatus): Transition {
  if (campaign['dynamic-campaign'] === 'N') return { refusal: 'Not a dynamic campaign.' };
  if (campaign.enabled === 'N') return { refusal: 'Campaign is not enabled.' };
  return findTransition(campaign.status, requested);
}

function readStatus(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined;
}

function answerMessage(status: number, message: string): HttpAnswer {
  return answerJson(status, { message });
}

/** The service's documentation has these with a message; what stands between client and service answers the others. */
const MESSAGE_OF_STATUS: Readonly<Record<number, string>> = {
  206: 'The request was sent but the response timed out.',
  400: 'Invalid state transition.',
  401: 'Not authorized.',
  404: NOT_FOUND,
  413: 'Request body is too large',
  500: 'Internal server error',
};

function bodyOfStatus(status: number): unknown {
  const message = MESSAGE_OF_STATUS[status];
  return message === undefined ? undefined : { message };
}

function leaveStatusOut({ campaign: { status: _, 'campaign-id': _id, ...campaign } }: ReadBody): unknown {
  return { campaign };
}

/** An unrelated campaign, in another status. */
function giveAnother({ campaign }: ReadBody): ReadBody {
  const status = campaign.status === 0 ? 5 : 0;
  return { campaign: { ...campaign, 'campaign-id': campaign['campaign-id'] + 1_000_000, status } };
}
