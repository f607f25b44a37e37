import { ACTION_KINDS } from '../domain/areas.js';
import { listSaid } from '../domain/count-of.js';
import { ServiceError } from '../domain/errors.js';
import type { Verdict } from '../domain/row.js';
import type { CampaignTarget } from '../domain/service-facts.js';
import type { CampaignStep, Job } from '../job/job.js';
import { type Campaign, changeCampaign, planChange, readCampaign } from '../service/areas/campaign.js';
import { inDoubt, refuseAction } from './outcomes.js';
import type { ActionContext, ActionKind, EarlierAction } from './step-kind.js';

/** Reads, and where the job says so changes, the status of a campaign: a dialer that pauses while the job sends. */
export const campaignKind: ActionKind<CampaignStep> = {
  ...ACTION_KINDS.campaign,
  isEssential: true,
  isDue: (step, { stop }, earlier) => stop === undefined || (step.always && hasSomethingToUndo(step, earlier)),
  describe: ({ campaign, expect, set, always }) => {
    const expected = expect && `expect ${expect.join(' or ')}`;
    const parts = listSaid(expected, set && `set ${set}`, always && 'even if an earlier step stopped the run');
    return { to: `campaign ${campaign}`, text: parts.join(', ') };
  },
  perform,
};

/**
 * In a stopped run, a step undoes what earlier steps did to its campaign: if none of them ran, there is nothing to
 * undo. Without such earlier steps it runs.
 */
function hasSomethingToUndo({ campaign }: CampaignStep, earlier: readonly EarlierAction[]): boolean {
  const changes = earlier.filter(
    ({ step }) => step.kind === 'campaign' && step.campaign === campaign && step.set !== undefined,
  );
  return changes.length === 0 || changes.some(({ verdict }) => verdict !== undefined && verdict.status !== 'rejected');
}

/** Campaigns that steps of a run changed, or may have changed, where it did not come to the step that changes them back. */
export function listUnrestored(steps: Job['steps'], mayHaveActed: (number: number) => boolean) {
  const changes = steps.flatMap((step, index) => {
    if (step.kind !== 'campaign' || step.set === undefined) return [];
    const { campaign, set } = step;
    return [{ campaign, set, number: index + 1, hasActed: mayHaveActed(index + 1) }];
  });
  const ids = [...new Set(changes.map(({ campaign }) => campaign))];
  return ids.flatMap((id) => {
    const ofOne = changes.filter(({ campaign }) => campaign === id);
    const did = ofOne.findLast(({ hasActed }) => hasActed);
    const missing = ofOne.at(-1);
    if (did === undefined || missing === undefined || missing.number <= did.number || missing.set === did.set)
      return [];
    return [{ campaign: id, did, missing }];
  });
}

async function perform(step: CampaignStep, context: ActionContext): Promise<Verdict> {
  const campaign = await readAgain(step.campaign, context);
  const { state } = campaign;
  const isOwnDoing = context.wasBegun && state === step.set;
  if (step.expect !== undefined && !step.expect.includes(state) && !isOwnDoing) {
    const expected = step.expect.join(' or ');
    const reason = `campaign ${step.campaign} is ${describe(campaign)}, expected ${expected}`;
    return refuseAction('not-as-expected', reason);
  }
  if (step.set === undefined) return accepted(state, `Campaign ${step.campaign} is ${describe(campaign)}`);
  return setFrom(campaign, step.set, { ...context, isExpected: step.expect !== undefined });
}

/** One page in the place of an answer must not leave a dialer paused for a night. */
async function readAgain(campaignId: number, { call, sleep }: ActionContext): Promise<Campaign> {
  for (let read = 1; ; read++) {
    try {
      return await call(readCampaign, { campaignId });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'bad-answer' || read === READS) throw error;
    }
    await sleep(FIRST_PAUSE_MS * 2 ** (read - 1));
  }
}

/** What a change needs of its surroundings. */
type Change = Pick<ActionContext, 'call' | 'begin' | 'sleep'> & {
  /** The state that the campaign is in was named by a person. */
  readonly isExpected: boolean;
};

/** Brings a campaign from where it was found to a status, unless it is there, or the service would refuse it; a change without a clear answer is settled by its status. */
export async function setFrom(found: Campaign, target: CampaignTarget, change: Change): Promise<Verdict> {
  const { state } = found;
  const plan = planChange(found, target);
  if (plan.kind === 'none') return accepted(state, `Campaign ${found.id} was ${target} already`);
  if (plan.kind === 'refused') return refuseAction('impossible-change', plan.reason);
  if (state === 'SCHEDULED' && target === 'PAUSED' && !change.isExpected) {
    const reason = `campaign ${found.id} is scheduled: after PAUSED and RUNNING it would dial before its time. Write \`expect: SCHEDULED\` if you mean that`;
    return refuseAction('impossible-change', reason);
  }
  await change.begin();
  try {
    await change.call(changeCampaign, { campaignId: found.id, target });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'in-doubt') throw error;
    return settle(found, target, { ...change, why: error.message });
  }
  return accepted(target, `Campaign ${found.id} went from ${state} to ${target}`);
}

const READS = 4;
const FIRST_PAUSE_MS = 1000;

/** A change without a clear answer (206, a lost answer) may take a while: the status shows whether it took effect. */
async function settle(
  { id, state }: Campaign,
  target: CampaignTarget,
  { call, sleep, why }: Change & { readonly why: string },
): Promise<Verdict> {
  let lastSeen = 'has a status that cannot be read';
  for (let read = 0; read < READS; read++) {
    if (read > 0) await sleep(FIRST_PAUSE_MS * 2 ** (read - 1));
    const found = await call(readCampaign, { campaignId: id }).catch(unreadable);
    if (found === undefined) continue;
    if (found.state === target) {
      return accepted(target, `Campaign ${id} went from ${state} to ${target}, as its status shows`);
    }
    lastSeen = `is still ${describe(found)}`;
  }
  return inDoubt('no-answer', `${why}; campaign ${id}, which was to be ${target}, ${lastSeen}`);
}

/** A failed read says nothing about the change before it. */
function unreadable(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
}

function describe({ state, meaning }: Campaign): string {
  return `${state} (${meaning})`;
}

function accepted(code: string, reason: string): Verdict {
  return { status: 'accepted', code, reason };
}
