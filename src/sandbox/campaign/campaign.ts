import type { AreaCall, AreaDeps, SandboxArea } from '../area.js';
import type { BasicToken } from '../check-credentials.js';
import { answerJson, type HttpAnswer } from '../http-answer.js';
import { addCampaignControl, type StatusChange } from './campaign-control.js';
import { createFirstCampaigns, type KeptCampaign } from './campaign-fields.js';
import { findTransition, isRequestedStatus } from './transition.js';

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

  const record = async ({ campaign, requested, request }: StatusChange) => {
    const { 'campaign-id': campaignId, status } = campaign;
    const from = campaigns.get(campaignId)?.status ?? null;
    // No await between reading a campaign and changing it: concurrent calls are serialized.
    put(campaign);
    const row = { campaignId, requested, from, status, campaign };
    await ledger.append({ at: clock.now(), area: 'campaign', request }, [row]);
  };

  const findCampaign = ({ params: { campaignId = '' } }: AreaCall) =>
    /^\d{1,15}$/.test(campaignId) ? campaigns.get(Number(campaignId)) : undefined;

  const readCampaign = async (call: AreaCall): Promise<HttpAnswer> => {
    const campaign = findCampaign(call);
    return campaign === undefined ? answerMessage(404, NOT_FOUND) : answerJson(200, { campaign });
  };

  const changeCampaign = async (call: AreaCall): Promise<HttpAnswer> => {
    const campaign = findCampaign(call);
    if (campaign === undefined) return answerMessage(404, NOT_FOUND);
    const requested = readStatus(call.body);
    if (!isRequestedStatus(requested)) return answerMessage(400, 'Invalid status.');
    if (campaign['dynamic-campaign'] === 'N') return answerMessage(400, 'Not a dynamic campaign.');
    if (campaign.enabled === 'N') return answerMessage(400, 'Campaign is not enabled.');
    const transition = findTransition(campaign.status, requested);
    if ('refusal' in transition) return answerMessage(400, transition.refusal);
    const time = new Date(clock.now()).toISOString().replace('Z', '+00:00');
    const isNew = campaign.status === 0;
    const changed = {
      ...campaign,
      status: transition.status,
      ...(isNew ? { 'actual-run-time': time } : {}),
      ...(requested === 'STOPPED' ? { 'actual-stop-time': time } : {}),
    };
    await record({ campaign: changed, requested, request: call.number });
    return answerMessage(200, 'Campaign status changed.');
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
    restore: (entry) => {
      if (entry.area === 'campaign') put(entry.campaign);
    },
    clear: reset,
    bodyOfStatus,
    addControl: (app) => addCampaignControl(app, { campaigns, record, now: () => clock.now() }),
  };
}

interface ReadBody {
  readonly campaign: KeptCampaign;
}

const NOT_FOUND = 'Campaign not found.';

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
