import { z } from 'zod';
import type { Area } from '../../domain/areas.js';
import { ceilings } from '../ceilings.js';
import { count, perSecond } from './values.js';

const RATE_HELP = 'A fraction means one in several seconds.';
const STEP_HELP = 'How fast this step sends; overrides the limits at the top.';

/** Limits at the top of the file, for every step with rows. rules/check-limits.ts checks them against the steps' ceilings. */
export const writtenLimits = z
  .strictObject({
    requestsPerSecond: perSecond().optional().describe(`Requests in any one second. ${RATE_HELP}`),
    messagesPerSecond: perSecond().optional().describe(`Messages in any one second. ${RATE_HELP}`),
    segmentsPerSecond: perSecond().optional().describe(`SMS parts in any one second. ${RATE_HELP}`),
    concurrency: count().optional().describe('Requests in flight at once.'),
  })
  .describe('How fast to send, for steps with input. The limits of a step override these.');

export const smsLimits = z
  .strictObject({
    requestsPerSecond: perSecond(ceilings.sms.requestsPerSecond)
      .optional()
      .describe(`Requests (batches) in any one second. ${RATE_HELP}`),
    messagesPerSecond: perSecond(ceilings.sms.messagesPerSecond)
      .optional()
      .describe(`Messages in any one second. ${RATE_HELP}`),
    segmentsPerSecond: perSecond(ceilings.sms.segmentsPerSecond)
      .optional()
      .describe(`SMS parts in any one second. ${RATE_HELP}`),
    concurrency: count(ceilings.sms.concurrency).optional().describe('Requests in flight at once.'),
  })
  .describe(STEP_HELP);

/** Of a step in which one row is one request; `row` says what it makes. */
export function rowLimits(area: Area, row: string) {
  return z
    .strictObject({
      requestsPerSecond: perSecond(ceilings[area].requestsPerSecond)
        .optional()
        .describe(`Requests in any one second; ${row} is a request. ${RATE_HELP}`),
      concurrency: count(ceilings[area].concurrency).optional().describe('Requests in flight at once.'),
    })
    .describe(STEP_HELP);
}

/** Of a step without rows, which makes its few calls one after the other; the limits at the top are not for it. */
export function actionLimits(area: Area) {
  return z
    .strictObject({
      requestsPerSecond: perSecond(ceilings[area].requestsPerSecond)
        .optional()
        .describe(`Requests in any one second. ${RATE_HELP}`),
    })
    .describe('How fast this step calls the service.');
}
