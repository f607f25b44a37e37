import { InternalError } from '../../domain/errors.js';
import type { CampaignState } from '../../job/job.js';

/**
 * The twelve numbers of a campaign's status. Contract: "States and transitions", Campaign; the words are its own.
 */
const STATUSES: readonly { readonly state: CampaignState; readonly meaning: string }[] = [
  { state: 'NEW', meaning: 'new: created, not started or scheduled' },
  { state: 'RUNNING', meaning: 'manual started: started manually' },
  { state: 'SCHEDULED', meaning: 'scheduled: started with a scheduled start time not yet reached' },
  { state: 'RUNNING', meaning: 'manual running: started manually without schedule, runs at once' },
  { state: 'RUNNING', meaning: 'schedule running: scheduled start time reached, running' },
  { state: 'STOPPED', meaning: 'manual stopped: stopped manually' },
  { state: 'STOPPED', meaning: 'completed: all records completed, stopped' },
  { state: 'STOPPED', meaning: 'schedule stopped: stopped because the scheduled stop time was reached' },
  { state: 'PAUSED', meaning: 'manual paused: paused, queued records continue to be processed' },
  { state: 'PAUSED', meaning: 'schedule paused' },
  { state: 'PURGED', meaning: 'manual purged: paused and records in the queues flushed as appropriate' },
  { state: 'PURGED', meaning: 'schedule purged' },
];

/** False for a number that the contract does not list. */
export function isCampaignStatus(status: number): boolean {
  return STATUSES[status] !== undefined;
}

/** What a number amounts to. An unlisted one is a bug: `readCampaign` gives none. */
export function stateOf(status: number): CampaignState {
  return findStatus(status).state;
}

/** The contract's name for a number. */
export function meaningOf(status: number): string {
  return findStatus(status).meaning;
}

function findStatus(status: number) {
  const found = STATUSES[status];
  if (found === undefined)
    throw new InternalError('unexpected', `Cannot name a campaign's status: ${status} is not listed`);
  return found;
}
