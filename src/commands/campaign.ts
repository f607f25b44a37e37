import { printResult } from '../command/print.js';
import { type CommandEnd, type LoggedTerminal, logCommand } from '../command/runner.js';
import { escapeText, type Terminal } from '../command/terminal.js';
import { ServiceError, UserError } from '../domain/errors.js';
import type { Verdict } from '../domain/row.js';
import type { CampaignTarget } from '../domain/service-facts.js';
import type { CampaignStep } from '../job/job.js';
import { defaultLimits } from '../job/limits.js';
import type { RunFigures } from '../kinds/action-kind.js';
import { campaignKind } from '../kinds/campaign.js';
import { EXIT } from '../report/exit-code.js';
import { emptyBalance } from '../report/summary.js';
import { CAMPAIGN_CHANGES, CAMPAIGN_FIELDS, readCampaign } from '../service/areas/campaign.js';
import type { CallService } from '../service/endpoint.js';
import { callService, type SingleCall } from './support/call-service.js';

export interface CampaignFlags {
  readonly job: string;
  /** As it was typed. */
  readonly id: string;
  readonly json: boolean | undefined;
}

/**
 * `volley campaign status ID`: reads a campaign's status; changes nothing. As JSON it has every field of the contract,
 * null where the answer has none.
 */
export function showCampaign(flags: CampaignFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'campaign status', file: flags.job, campaign: flags.id }, (name) =>
    showNamed(flags, { terminal, name }),
  );
}

async function showNamed(flags: CampaignFlags, { terminal, name: nameFields }: LoggedTerminal): Promise<CommandEnd> {
  const campaignId = parseCampaignId(flags.id);
  const campaign = await callService(terminal, { ...flags, nameFields, area: 'campaign' }, ({ call }) =>
    call(readCampaign, { campaignId }),
  );
  const { id, name, status, state, meaning, isEnabled, isDynamic, recordCount, fields } = campaign;
  const json = {
    campaign: id,
    name,
    campaignState: state,
    status,
    meaning,
    isEnabled: isEnabled ?? null,
    isDynamic: isDynamic ?? null,
    recordCount: recordCount ?? null,
    fields: { ...Object.fromEntries(CAMPAIGN_FIELDS.map((field) => [field, null])), ...fields },
  };
  const notes = [
    ...(isDynamic === false ? ['not dynamic'] : []),
    ...(isEnabled === false ? ['not enabled'] : []),
    ...(recordCount === undefined ? [] : [`${recordCount} records`]),
  ];
  const title = name === '' ? '' : ` "${escapeText(name)}"`;
  const more = notes.length === 0 ? '' : `  ${notes.join(', ')}\n`;
  await printResult(terminal, flags, { json, text: `Campaign ${id}${title}: ${state} (${meaning})\n${more}` });
  return { exitCode: EXIT.ok, reason: `the campaign is ${state} (${meaning})` };
}

export interface SetCampaignFlags extends CampaignFlags {
  /** As it was typed, in either case. */
  readonly target: string;
}

const EXIT_OF: Readonly<Record<Verdict['status'], number>> = {
  accepted: EXIT.ok,
  rejected: EXIT.rejected,
  'in-doubt': EXIT.inDoubt,
};

/** `volley campaign set ID STATUS`: exit 0 when set, or set before; 1 when refused; 3 when the outcome is unknown. */
export function setCampaign(flags: SetCampaignFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'campaign set', file: flags.job, campaign: flags.id }, (name) =>
    setNamed(flags, { terminal, name }),
  );
}

async function setNamed(flags: SetCampaignFlags, { terminal, name }: LoggedTerminal): Promise<CommandEnd> {
  const campaign = parseCampaignId(flags.id);
  const target = parseTarget(flags.target);
  const step: CampaignStep = {
    kind: 'campaign',
    campaign,
    expect: undefined,
    set: target,
    always: false,
    limits: defaultLimits.campaign,
  };
  const verdict = await callService(
    terminal,
    { ...flags, nameFields: name, area: 'campaign', isAction: true },
    (single) => performStep(step, single),
  );
  const { status, code, reason } = verdict;
  const state = status === 'accepted' ? 'done' : status;
  const json = { campaign, target, state, exitCode: EXIT_OF[status], error: null, code, reason };
  await printResult(terminal, flags, { json, text: `${WORD_OF[status]}${escapeText(reason)}\n` });
  return { exitCode: EXIT_OF[status], reason };
}

const WORD_OF: Readonly<Record<Verdict['status'], string>> = {
  accepted: '',
  rejected: 'Not done: ',
  'in-doubt': 'In doubt: ',
};

async function performStep(step: CampaignStep, { call, job, sleep }: SingleCall): Promise<Verdict> {
  let doubt: ServiceError | undefined;
  const watchedCall: CallService = async (endpoint, input) => {
    try {
      return await call(endpoint, input);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'in-doubt') doubt = error;
      throw error;
    }
  };
  const begin = async () => {};
  try {
    return await campaignKind.perform(step, {
      call: watchedCall,
      figures: noRun(job.name),
      wasBegun: false,
      begin,
      sleep,
    });
  } catch (error) {
    // The read that should have resolved it failed too, or a signal ended it.
    throw doubt ?? error;
  }
}

/** Empty figures: a single call has no run behind it. */
function noRun(job: string): RunFigures {
  return {
    job,
    plan: '',
    directory: '',
    stop: undefined,
    startedAtMs: 0,
    nowMs: 0,
    balance: emptyBalance(),
    exitCode: EXIT.ok,
  };
}

function parseCampaignId(id: string): number {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id);
  throw new UserError('bad-flag', `Cannot find a campaign: "${id}" is not a campaign id, expected a whole number`, {
    hint: 'The configuration manager shows it beside the campaign.',
  });
}

function parseTarget(written: string): CampaignTarget {
  const target = written.toUpperCase();
  if (isTarget(target)) return target;
  const expected = `expected one of ${Object.keys(CAMPAIGN_CHANGES).join(', ')}`;
  throw new UserError('bad-flag', `Cannot change a campaign: the status is ${JSON.stringify(written)}, ${expected}`);
}

function isTarget(text: string): text is CampaignTarget {
  return Object.hasOwn(CAMPAIGN_CHANGES, text);
}
