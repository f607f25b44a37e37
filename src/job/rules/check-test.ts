import type { Finding } from '../explain/finding.js';
import { isMapping } from '../explain/finding.js';
import { listSteps } from '../explain/written-steps.js';

/** Only messages of sms steps can be tested: without one, nothing of the job could ever be sent. */
export function checkTest(job: unknown): Finding[] {
  if (!isMapping(job) || !isMapping(job.guards) || job.guards.requireTest !== true) return [];
  const steps = listSteps(job);
  if (steps.length === 0 || steps.some(({ kind }) => kind === 'sms')) return [];
  const message = 'guards.requireTest needs messages to test, expected a step of kind sms';
  return [{ at: ['guards', 'requireTest'], message, hint: 'Remove the guard: steps of other kinds have no test.' }];
}
