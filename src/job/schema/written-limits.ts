import { z } from 'zod';
import type { Area } from '../../domain/areas.js';
import { ceilings, type Limits } from '../limits.js';
import { count, perSecond } from './values.js';

const RATE_HELP = 'A fraction means one in several seconds.';
const STEP_HELP = 'How fast this step sends; overrides the limits at the top.';

function limitsUpTo(most: Partial<Limits>, requests = 'Requests in any one second') {
  return z.strictObject({
    requestsPerSecond: perSecond(most.requestsPerSecond).optional().describe(`${requests}. ${RATE_HELP}`),
    messagesPerSecond: perSecond(most.messagesPerSecond)
      .optional()
      .describe(`Messages in any one second. ${RATE_HELP}`),
    segmentsPerSecond: perSecond(most.segmentsPerSecond)
      .optional()
      .describe(`SMS parts in any one second. ${RATE_HELP}`),
    concurrency: count(most.concurrency).optional().describe('Requests in flight at once.'),
  });
}

/** Limits at the top of the file, for every step with rows. job-rules.ts checks them against the steps' ceilings. */
export const writtenLimits = limitsUpTo({}).describe(
  'How fast to send, for steps with input. The limits of a step override these.',
);

export const smsLimits = limitsUpTo(ceilings.sms, 'Requests (batches) in any one second').describe(STEP_HELP);

/** Of a step in which one row is one request; `row` says what it makes. */
export function rowLimits(area: Area, row: string) {
  return limitsUpTo(ceilings[area], `Requests in any one second; ${row} is a request`)
    .pick({ requestsPerSecond: true, concurrency: true })
    .describe(STEP_HELP);
}

/** Of a step without rows, which makes its few calls one after the other; the limits at the top are not for it. */
export function actionLimits(area: Area) {
  return limitsUpTo(ceilings[area]).pick({ requestsPerSecond: true }).describe('How fast this step calls the service.');
}
