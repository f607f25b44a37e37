import { z } from 'zod';
import { MAX_STATUS } from './transition.js';

const yesOrNo = z.enum(['Y', 'N']);

/** A campaign as the contract's read shows it, names and types. Texts are empty when unset. */
export const campaignSchema = z.strictObject({
  'campaign-name': z.string(),
  'campaign-id': z.int().min(1),
  enabled: yesOrNo,
  status: z.int().min(0).max(MAX_STATUS),
  'no-of-records': z.int().min(0),
  'caller-id': z.number(),
  'queue-id': z.int(),
  'start-time': z.string(),
  'end-time': z.string(),
  'actual-stop-time': z.string(),
  'daily-start-time': z.string(),
  'daily-end-time': z.string(),
  /** ISO 8601 with offset. */
  'actual-run-time': z.iso.datetime({ offset: true }),
  'retry-interval': z.int().min(0),
  'max-retry': z.int().min(0),
  'abandon-max-retry': z.string(),
  'max-ring-time': z.int().min(0),
  'integration-type': z.string(),
  'calling-window': z.int().min(0),
  'schedule-name': z.string(),
  timezone: z.string(),
  'dynamic-campaign': yesOrNo,
  sequential: yesOrNo,
});

export type KeptCampaign = z.output<typeof campaignSchema>;

/** A campaign that was never started: enabled, dynamic, status 0. */
export function createCampaign(id: number): KeptCampaign {
  return {
    'campaign-name': `campaign ${id}`,
    'campaign-id': id,
    enabled: 'Y',
    status: 0,
    'no-of-records': 1200,
    'caller-id': 6560000000,
    'queue-id': 201,
    'start-time': '',
    'end-time': '',
    'actual-stop-time': '',
    'daily-start-time': '',
    'daily-end-time': '',
    'actual-run-time': '2026-01-05T09:00:00+00:00',
    'retry-interval': 300,
    'max-retry': 3,
    'abandon-max-retry': '',
    'max-ring-time': 30,
    'integration-type': 'Local CRM',
    'calling-window': 0,
    'schedule-name': 'always',
    timezone: 'UTC',
    'dynamic-campaign': 'Y',
    sequential: 'N',
  };
}

/** The initial campaigns of a sandbox: one for each case to try. */
export function createFirstCampaigns(): KeptCampaign[] {
  return [
    { ...createCampaign(101), 'campaign-name': 'running', status: 3 },
    { ...createCampaign(102), 'campaign-name': 'paused', status: 8 },
    { ...createCampaign(103), 'campaign-name': 'new', status: 0 },
    { ...createCampaign(104), 'campaign-name': 'stopped', status: 5, 'actual-stop-time': '2026-01-05T17:00:00+00:00' },
    { ...createCampaign(105), 'campaign-name': 'purged', status: 10 },
    { ...createCampaign(106), 'campaign-name': 'not dynamic', status: 3, 'dynamic-campaign': 'N' },
    { ...createCampaign(107), 'campaign-name': 'not enabled', status: 3, enabled: 'N' },
  ];
}
