import { countOf } from '../domain/count-of.js';
import type { Balance } from '../domain/row.js';
import { jobFileOf } from './campaign.js';
import { Desk, type PageAnswer, type PageRequest, viewOf } from './desk.js';
import { type Wrong, wrongOf } from './pages/layout.js';
import { TEST_ROWS, testPage } from './pages/test-page.js';

/** Messages of a campaign to own phones, by `volley test`. */
export class TestDesk extends Desk {
  async showTest(asked: PageRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const { job, directory } = campaign;
    if (job === undefined) return { to: `/c/${asked.name}/columns` };
    const started = await this.commands.find(this.campaigns.stateOf(asked.name), 'test');
    const isAtWork = started !== undefined && started.printed === undefined;
    const { printed } = started ?? {};
    const args = ['preview', jobFileOf(campaign), '--longest', '--count', '1'];
    const previewed = isAtWork ? undefined : await this.commands.run({ actor: asked.user, directory, args });
    const [row] = (previewed?.rows ?? []) as readonly { price?: { amount: string | null; currency: string } }[];
    const amount = row?.price?.amount ?? undefined;
    const shown = {
      name: asked.name,
      numbers: String(asked.fields.to ?? job.testNumbers),
      last: String(printed?.plan ?? ''),
      price: amount === undefined ? undefined : `${amount} ${row?.price?.currency}`,
      said: printed?.balance === undefined ? undefined : describeTest(printed.balance as Balance),
      isAtWork,
    };
    const all = wrong.length > 0 || printed === undefined ? wrong : wrongOf(printed, 'to');
    return { status: wrong.length > 0 ? 422 : 200, page: testPage(viewOf(asked, campaign), shown, all) };
  }

  /** Of the plan that was checked, where the campaign was not changed since: then it counts where a job asks for a test. */
  async send(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const { job, directory } = campaign;
    const [to, row] = [asked.fields.to, asked.fields.row].map((each) => String(each ?? '').trim());
    if (job === undefined) return { to: `/c/${asked.name}/columns` };
    if (!to) return this.showTest(asked, [{ message: 'Give a number of your own', field: 'to' }]);
    const state = this.campaigns.stateOf(asked.name);
    const before = await this.commands.find(state, 'test');
    // A second press, a reload: it is sent, or on its way.
    if (before !== undefined && asked.fields.last !== String(before.printed?.plan ?? ''))
      return { to: `/c/${asked.name}/test` };
    const { checked } = await this.checked(campaign);
    const of = checked?.isStale === false ? checked.directory : jobFileOf(campaign);
    const choice = TEST_ROWS.some(([flag]) => flag !== '' && flag === row) ? [`--${row}`] : [];
    const args = [of, `--to=${to}`, ...choice];
    await this.commands.start(state, 'test', { actor: asked.user, directory, args, jobSha256: job.sha256 });
    return { to: `/c/${asked.name}/test` };
  }
}

function describeTest({ accepted, rejected, inDoubt }: Balance): string {
  return `The last test: ${countOf(accepted, 'message')} accepted, ${rejected} rejected, ${inDoubt} in doubt.`;
}
