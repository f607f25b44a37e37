import type { Verdict } from '../domain.js';
import { ServiceError } from '../errors.js';
import type { CampaignState, CampaignStep } from '../job/job.js';
import { changeCampaign, readCampaign } from '../service/campaign.js';
import { planChange } from '../service/campaign-plan.js';
import { meaningOf, stateOf } from '../service/campaign-states.js';
import type { ActionContext, ActionKind } from './action.js';

/** Reads, and where the job says so changes, the status of a campaign: a dialer that pauses while the job sends. */
export const campaignKind: ActionKind<CampaignStep> = {
  area: 'campaign',
  isStanding: true,
  isEssential: true,
  isDue: (step, { stop }) => stop === undefined || step.always,
  describe: ({ campaign, expect, set, always }) => {
    const parts = [
      ...(expect === undefined ? [] : [`expect ${expect.join(' or ')}`]),
      ...(set === undefined ? [] : [`set ${set}`]),
      ...(always ? ['even if an earlier step stopped the run'] : []),
    ];
    return { to: `campaign ${campaign}`, text: parts.join(', ') };
  },
  perform,
};

async function perform(step: CampaignStep, context: ActionContext): Promise<Verdict> {
  const campaign = await context.call(readCampaign, { campaignId: step.campaign });
  const state = stateOf(campaign.status);
  if (step.expect !== undefined && !step.expect.includes(state)) {
    const expected = step.expect.join(' or ');
    const reason = `campaign ${step.campaign} is ${describe(campaign.status)}, expected ${expected}`;
    return { status: 'rejected', code: 'not-as-expected', reason };
  }
  if (step.set === undefined) return accepted(state, `Campaign ${step.campaign} is ${describe(campaign.status)}`);
  const change = planChange(campaign, step.set);
  if (change.kind === 'none') return accepted(state, `Campaign ${step.campaign} was ${step.set} already`);
  if (change.kind === 'refused') return { status: 'rejected', code: 'impossible-change', reason: change.reason };
  return setStatus({ campaign: step.campaign, target: step.set, from: state }, context);
}

interface Change {
  readonly campaign: number;
  readonly target: NonNullable<CampaignStep['set']>;
  readonly from: CampaignState;
}

async function setStatus(change: Change, context: ActionContext): Promise<Verdict> {
  const { campaign, target, from } = change;
  await context.begin();
  try {
    await context.call(changeCampaign, { campaignId: campaign, target });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'in-doubt') throw error;
    return settle(change, context);
  }
  return accepted(target, `Campaign ${campaign} went from ${from} to ${target}`);
}

const READS = 4;
const FIRST_PAUSE_MS = 1000;

/** A change without a clear answer (206, a lost answer) may take a while: the status tells whether it came about. */
async function settle({ campaign, target, from }: Change, { call, sleep }: ActionContext): Promise<Verdict> {
  let told = '';
  for (let read = 0; read < READS; read++) {
    if (read > 0) await sleep(FIRST_PAUSE_MS * 2 ** (read - 1));
    const { status } = await call(readCampaign, { campaignId: campaign });
    if (stateOf(status) === target) {
      return accepted(target, `Campaign ${campaign} went from ${from} to ${target}, as its status tells`);
    }
    told = describe(status);
  }
  const reason = `the change of campaign ${campaign} to ${target} had no clear answer, and it is still ${told}`;
  return { status: 'in-doubt', code: 'no-answer', reason };
}

function describe(status: number): string {
  return `${stateOf(status)} (${meaningOf(status)})`;
}

function accepted(code: string, reason: string): Verdict {
  return { status: 'accepted', code, reason };
}
