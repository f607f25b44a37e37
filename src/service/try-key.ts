import type { Area } from '../domain/areas.js';
import { ServiceError } from '../domain/errors.js';
import { isObject } from '../domain/is-object.js';
import type { ServiceAddresses, Step } from '../job/job.js';
import { readJsonBody } from './answer.js';
import { readCampaign } from './areas/campaign.js';
import { readMessages } from './areas/chat.js';
import { readSession } from './areas/verification.js';
import { type CallService, type Endpoint, getRequest } from './endpoint.js';

/** Of nothing that exists: the service answers 404 to a good key, and 401 or 403 to another. */
const NO_SUCH_ID = '00000000-0000-0000-0000-000000000000';

/** Documented: "Retrieve SMS details", "Get contact information by id", "Retrieves conversation details". */
const READS: Readonly<Record<'sms' | 'contacts' | 'gateway', (service: ServiceAddresses) => string>> = {
  sms: ({ subAccountId }) => `/api/v1/subaccounts/${encodeURIComponent(subAccountId)}/messages/${NO_SUCH_ID}`,
  contacts: ({ account, accountId = account }) => `/accounts/${encodeURIComponent(accountId)}/contacts/0`,
  gateway: ({ gatewayPaths }) => gatewayPaths.conversation.replaceAll('{conversationId}', NO_SUCH_ID),
};

/**
 * Whether the service takes the credentials of an area, by a read that changes nothing and sends nothing. Throws the ServiceError
 * of a call that was not taken, or that says nothing about the key. The Action Request Token cannot be tried: it only changes.
 */
export async function tryKey(area: Area, steps: readonly Step[], call: CallService): Promise<void> {
  try {
    await readSomething(area, steps, call);
  } catch (error) {
    // The service knows the caller, and has no such thing.
    if (!(error instanceof ServiceError) || error.code !== 'refused') throw error;
  }
}

async function readSomething(area: Area, steps: readonly Step[], call: CallService): Promise<unknown> {
  switch (area) {
    case 'verification':
      return call(readSession, { sessionId: NO_SUCH_ID });
    case 'campaign': {
      const campaignId = steps.flatMap((step) => (step.kind === 'campaign' ? [step.campaign] : []))[0] ?? 1;
      return call(readCampaign, { campaignId });
    }
    case 'chat':
      return call(readMessages, { pageSize: 1 });
    default:
      return call(readOf(area), undefined);
  }
}

function readOf(area: keyof typeof READS): Endpoint<undefined, true> {
  return {
    name: `read from ${area}`,
    area,
    isRepeatable: () => true,
    request: (service) => getRequest({ base: service.bases[area], path: READS[area](service) }),
    read: (response) => (isObject(readJsonBody(response)) ? true : undefined),
  };
}
