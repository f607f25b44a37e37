import type { Finding } from '../explain/finding.js';
import { checkChatTexts } from './chat.js';
import { checkCost } from './check-cost.js';
import { checkSharedLimits } from './check-limits.js';
import { checkSteps } from './check-steps.js';
import { checkTest } from './check-test.js';
import { requireAccess } from './require-access.js';
import { checkSmsLists, checkSmsTexts } from './sms.js';

/**
 * Rules over several keys of a job file. They take the value as read, of any shape, so that their findings appear
 * beside those of the schema; wrong shapes are left to the schema.
 */
export function findBrokenRules(job: unknown): Finding[] {
  return [
    ...requireAccess(job),
    ...checkCost(job),
    ...checkSharedLimits(job),
    ...checkSteps(job),
    ...checkTest(job),
    ...checkSmsTexts(job),
    ...checkSmsLists(job),
    ...checkChatTexts(job),
  ];
}
