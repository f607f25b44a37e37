import type { FastifyInstance } from 'fastify';
import { parseControlBody } from '../control-body.js';
import { answerError, ERROR_CODE } from '../http-answer.js';
import type { Ledger } from '../ledger/ledger.js';
import { toCampaignRow } from './campaign-entry.js';
import { campaignSchema, createCampaign, type KeptCampaign } from './campaign-fields.js';

export interface CampaignControlDeps {
  readonly campaigns: ReadonlyMap<number, KeptCampaign>;
  readonly ledger: Ledger;
  readonly now: () => number;
}

const writtenSchema = campaignSchema.omit({ 'campaign-id': true }).partial();

/** `/_sandbox/campaigns`: shows all, and sets any field of one, even if the service would refuse; a missing one is created. */
export function addCampaignControl(app: FastifyInstance, { campaigns, ledger, now }: CampaignControlDeps): void {
  app.get('/_sandbox/campaigns', async () => [...campaigns.values()]);

  app.put<{ Params: { campaignId: string } }>('/_sandbox/campaigns/:campaignId', async ({ params, body }, reply) => {
    const refuse = (message: string) =>
      reply.code(400).send(answerError(400, { code: ERROR_CODE.invalidParameter, message }, now()).body);
    if (!/^[1-9]\d{0,8}$/.test(params.campaignId)) {
      return refuse('Cannot set campaign: its id is not a number, expected 1 to 9 digits');
    }
    const written = writtenSchema.safeParse(parseControlBody(body));
    if (!written.success) return refuse(`Cannot set campaign: ${describe(written.error.issues)}`);
    const id = Number(params.campaignId);
    return ledger.accept({ at: now(), area: 'campaign', request: 0 }, () => {
      const known = campaigns.get(id);
      // JSON has no undefined: written fields replace, the others stay.
      const campaign = { ...(known ?? createCampaign(id)), ...written.data } as KeptCampaign;
      return { rows: [toCampaignRow(campaign, null, known?.status ?? null)], answer: () => campaign };
    });
  });
}

function describe(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string {
  return issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`).join('; ');
}
