import type { Area } from '../domain/areas.js';
import { ServiceError } from '../domain/errors.js';
import { isObject } from '../domain/is-object.js';
import { ENDPOINTS, type EndpointFacts } from '../domain/service-facts.js';
import type { Step } from '../job/job.js';
import { readJsonBody } from './answer.js';
import { readCampaign } from './areas/campaign.js';
import { readMessages } from './areas/chat.js';
import { readSession } from './areas/verification.js';
import { type CallService, defineEndpoint } from './endpoint.js';

/** Of nothing that exists: the service answers 404 to a good key, and 401 or 403 to another. */
const NO_SUCH_ID = '00000000-0000-0000-0000-000000000000';

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
    case 'sms':
      return call(readPlainly(ENDPOINTS.readSms), { umid: NO_SUCH_ID });
    case 'contacts':
      return call(readPlainly(ENDPOINTS.readContact), { contactId: '0' });
    case 'gateway':
      return call(readPlainly(ENDPOINTS.readConversation), { conversationId: NO_SUCH_ID });
  }
}

function readPlainly(facts: EndpointFacts) {
  return defineEndpoint(
    facts,
    (ids: Readonly<Record<string, string>>) => ({ ids }),
    (response) => (isObject(readJsonBody(response)) ? true : undefined),
  );
}
