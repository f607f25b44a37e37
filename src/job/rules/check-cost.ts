import type { Finding } from '../explain/finding.js';
import { isMapping } from '../explain/finding.js';

/** A limit of the cost needs prices. */
export function checkCost(job: unknown): Finding[] {
  if (!isMapping(job) || !isMapping(job.guards) || job.guards.maxCost === undefined || job.prices !== undefined)
    return [];
  const message = 'guards.maxCost needs the prices of messages, expected prices: { file, currency }';
  return [{ at: ['guards', 'maxCost'], message, hint: 'Name a price list: jobs/reference/job-file.md, "Prices".' }];
}
