import type { Result } from '../command/context.js';
import { escapeText } from '../command/screen.js';
import { callOnce, callService } from '../command/single-call.js';
import { ServiceError } from '../domain/errors.js';
import type { Verdict } from '../domain/row.js';
import type { CampaignTarget } from '../domain/service-facts.js';
import { setFrom } from '../kinds/campaign.js';
import { EXIT } from '../report/exit-code.js';
import { CAMPAIGN_CHANGES, type Campaign, readCampaign } from '../service/areas/campaign.js';
import type { CallService } from '../service/endpoint.js';
import { defineBelow, type Group, readAs, single, whole } from './verb.js';

const id = { ...whole('Id of the campaign, as the configuration manager shows it', 1), demandOption: true } as const;

const status = defineBelow('status <id>', 'Show the status of a campaign', {
  args: { id },
  flags: single,
  examples: [['101 --job jobs/campaign-window.yaml', '']],
  run: async ({ job, id: campaign }, context) => {
    context.name({ campaign });
    return callOnce(context, job, { endpoint: readCampaign, input: { campaignId: campaign }, result: describe });
  },
});

function describe(campaign: Campaign): Omit<Result, 'exitCode'> {
  const { id, name, status, state, meaning, fields } = campaign;
  const { isEnabled = null, isDynamic = null, recordCount = null } = campaign;
  const notes = [
    ...(isDynamic === false ? ['not dynamic'] : []),
    ...(isEnabled === false ? ['not enabled'] : []),
    ...(recordCount === null ? [] : [`${recordCount} records`]),
  ];
  const title = name === '' ? '' : ` "${escapeText(name)}"`;
  const more = notes.length === 0 ? '' : `  ${notes.join(', ')}\n`;
  return {
    json: { campaign: id, name, campaignState: state, status, meaning, isEnabled, isDynamic, recordCount, fields },
    text: `Campaign ${id}${title}: ${state} (${meaning})\n${more}`,
    reason: `the campaign is ${state} (${meaning})`,
  };
}

const TARGETS = Object.keys(CAMPAIGN_CHANGES) as readonly CampaignTarget[];

/** Exits with 0 when set, or set before; 1 when refused; 3 when the outcome is unknown. */
const set = defineBelow(
  'set <id> <status>',
  'Set the status of a campaign; reads it first, and refuses a change that is impossible',
  {
    args: {
      id,
      status: {
        ...readAs(
          'RUNNING, PAUSED, PURGED or STOPPED, in either case; STOPPED is final',
          `one of ${TARGETS.join(', ')}`,
          (given) => TARGETS.find((target) => target === given.toUpperCase()),
        ),
        demandOption: true,
      },
    },
    flags: single,
    examples: [['101 PAUSED --job jobs/campaign-window.yaml', '']],
    run: async ({ job, id: campaign, status: target }, context) => {
      context.name({ campaign });
      const verdict = await callService(context, { job, area: 'campaign', isAction: true }, async ({ call, sleep }) => {
        const found = await call(readCampaign, { campaignId: campaign });
        let doubt: unknown;
        const watched: CallService = (endpoint, input) =>
          call(endpoint, input).catch((error: unknown) => {
            if (error instanceof ServiceError && error.code === 'in-doubt') doubt = error;
            throw error;
          });
        // What ends the reading that would settle it, such as a signal, leaves the change in doubt.
        return setFrom(found, target, { call: watched, sleep, begin: async () => {}, isExpected: false }).catch(
          (error) => {
            throw doubt ?? error;
          },
        );
      });
      const { status, code, reason } = verdict;
      const { exitCode, word } = END_OF[status];
      const state = status === 'accepted' ? 'done' : status;
      return {
        json: { campaign, target, state, exitCode, error: null, code, reason },
        text: `${word}${escapeText(reason)}\n`,
        exitCode,
        reason,
      };
    },
  },
);

const END_OF: Readonly<Record<Verdict['status'], { readonly exitCode: number; readonly word: string }>> = {
  accepted: { exitCode: EXIT.ok, word: '' },
  rejected: { exitCode: EXIT.rejected, word: 'Not done: ' },
  'in-doubt': { exitCode: EXIT.inDoubt, word: 'In doubt: ' },
};

export const campaign: Group = [status, set];
