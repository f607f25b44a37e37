import { join } from 'node:path';
import { EXIT } from '../report/exit-code.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';
import type { Started } from './commands.js';
import { Desk, isTyped, type PageAnswer, type PageRequest, viewOf } from './desk.js';
import { refusedPage, type Wrong, wrongOf } from './pages/layout.js';
import { beginningPage, type Checked, checkPage, runPage, whatNext } from './pages/sending-pages.js';
import { type FoundRun, findRun } from './reading.js';

/** From the check of a campaign to its report: it starts `volley plan` and `volley apply`, and shows what became of them. */
export class SendingDesk extends Desk {
  readonly #sending = new Map<string, Promise<PageAnswer>>();

  async showCheck(asked: PageRequest, more: readonly Wrong[] = []): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    if (campaign.job === undefined) return { to: `/c/${asked.name}/columns` };
    const { started, checked } = await this.checked(campaign);
    const isChecking = started !== undefined && started.printed === undefined;
    const wrong = [...more, ...listFaults(started, campaign)];
    return {
      status: more.length > 0 ? 422 : 200,
      page: checkPage(viewOf(asked, campaign), { name: asked.name, isChecking, checked }, wrong),
    };
  }

  async check(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    if (campaign.job === undefined) return { to: `/c/${asked.name}/columns` };
    const { directory, job } = campaign;
    if (asked.user !== undefined && !job.isSandbox && !job.asksApproval) return this.showCheck(asked, [ALONE]);
    await this.commands.start(this.campaigns.stateOf(asked.name), 'plan', {
      actor: asked.user,
      directory,
      args: [jobFileOf(campaign)],
      jobSha256: job.sha256,
    });
    return { to: `/c/${asked.name}/check` };
  }

  /** Of several presses at once the first does it, and all lead where it does. */
  async send(asked: PageRequest): Promise<PageAnswer> {
    const under = this.#sending.get(asked.name);
    if (under !== undefined) {
      await under.catch(() => {});
      return { to: `/c/${asked.name}/run` };
    }
    const sending = this.#send(asked).finally(() => this.#sending.delete(asked.name));
    this.#sending.set(asked.name, sending);
    return sending;
  }

  async #send(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const { checked } = await this.checked(campaign);
    const run = await findRun(campaign, this.context);
    // A second click, a reload: it is on its way.
    if (run !== undefined && checked !== undefined && run.plan.id === checked.plan.id)
      return { to: `/c/${asked.name}/run` };
    if (checked?.count === undefined || checked.isStale || asked.fields.plan !== checked.planSha256) {
      const page = await this.showCheck(asked, [
        { message: 'This is another plan now. Look at it, and type its number.' },
      ]);
      return { ...page, status: 409 };
    }
    if (!isTyped(asked, checked.count)) return this.showCheck(asked, [askFor(checked.count)]);
    return (await this.#approve(asked, campaign, checked)) ?? this.#apply(asked, campaign, checked.plan.id);
  }

  /** Undefined once the plan may be sent. */
  async #approve(asked: PageRequest, { directory }: CampaignFolder, checked: Checked): Promise<PageAnswer | undefined> {
    const next = whatNext(asked, checked);
    // Whatever made the plan: a check, corrected rows, a retry.
    if (asked.user !== undefined && !checked.plan.job.service.sandbox && checked.approvals.required === 0)
      return { ...(await this.showCheck(asked, [ALONE])), status: 403 };
    if (next === 'send') return undefined;
    if (next === 'ask')
      return { ...(await this.showCheck(asked, [{ message: 'Another person approves this plan' }])), status: 403 };
    const args = ['approve', checked.directory, '--confirm', checked.planSha256];
    const printed = await this.commands.run({ actor: asked.user, directory, args });
    if (printed.exitCode !== 0) return this.showCheck(asked, wrongOf(printed));
    return printed.state === 'approved' ? undefined : { to: `/c/${asked.name}/check` };
  }

  async goOn(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const run = await findRun(campaign, this.context);
    if (run === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    const { rest } = run;
    if (rest !== undefined && (!isTyped(asked, rest.count) || asked.fields.stage !== String(rest.stage)))
      return { ...(await this.showRun(asked, [askFor(rest.count)])), status: 422 };
    return this.#apply(asked, campaign, run.plan.id, run);
  }

  async #apply(asked: PageRequest, campaign: CampaignFolder, plan: string, run?: FoundRun): Promise<PageAnswer> {
    const directory =
      run?.directory ??
      String((await this.commands.find(this.campaigns.stateOf(asked.name), 'plan'))?.printed?.directory);
    const pass = run?.rest === undefined ? [] : ['--pass-stage', `${run.rest.stage}`];
    const args = [directory, '--confirm', plan, ...pass];
    await this.commands.start(this.campaigns.stateOf(asked.name), 'apply', {
      actor: asked.user,
      directory: campaign.directory,
      args,
      jobSha256: campaign.job?.sha256 ?? '',
    });
    return { to: `/c/${asked.name}/run` };
  }

  /** Of the run that the page is about; undefined for one that has not begun. */
  async #running(
    campaign: CampaignFolder,
  ): Promise<{ run: FoundRun | undefined; isStarting: boolean; wrong: Wrong[] }> {
    const started = await this.commands.find(this.campaigns.stateOf(campaign.name), 'apply');
    const run = await findRun(campaign, this.context);
    const isStarting = started !== undefined && started.printed === undefined && run?.runner === undefined;
    // What a run itself came to, its account says; what refused it or stopped it, only this.
    const { printed } = started ?? {};
    const isFault = run === undefined || printed?.exitCode === EXIT.notStarted || printed?.exitCode === EXIT.stopped;
    return { run, isStarting, wrong: printed !== undefined && isFault ? wrongOf(printed) : [] };
  }

  async showRun(asked: PageRequest, more: readonly Wrong[] = []): Promise<PageAnswer> {
    const campaign = await this.find(asked.name);
    const { run, isStarting, wrong: faults } = await this.#running(campaign);
    const wrong = [...more, ...faults];
    const view = viewOf(asked, campaign);
    if (run === undefined && !isStarting && wrong.length === 0) return { to: `/c/${asked.name}/check` };
    if (run === undefined && isStarting) return { page: beginningPage(view, asked.name) };
    if (run === undefined) return this.showCheck(asked, wrong);
    return {
      page: runPage(
        view,
        asked.name,
        isStarting ? { ...run, summary: undefined, runner: { host: '', pid: 0, isHere: false } } : run,
        wrong,
      ),
    };
  }

  /** `beginning`: of the page that is shown until it has begun. */
  async lookAtRun(asked: PageRequest): Promise<PageAnswer> {
    const { run, isStarting } = await this.#running(await this.find(asked.name));
    const isOver = !isStarting && (run?.runner === undefined || asked.fields.beginning !== undefined);
    return { json: { isOver, said: run?.said ?? 'Sending begins.' } };
  }

  /** One signal for each time that the lock was taken, after a look at who has it now. */
  async stop(asked: PageRequest): Promise<PageAnswer> {
    const run = await findRun(await this.find(asked.name), this.context);
    const { owner, runner } = run ?? {};
    if (owner !== undefined && runner?.isHere === true) this.commands.stop(owner.pid, owner.instance);
    return { to: `/c/${asked.name}/run` };
  }

  async openOutput(asked: PageRequest): Promise<PageAnswer> {
    const run = await findRun(await this.find(asked.name), this.context);
    if (run === undefined || !run.outputs.includes(asked.output)) return notFound();
    return { file: { path: join(run.directory, asked.output), name: asked.output } };
  }
}

/** Where several people share a console. */
const ALONE: Wrong = {
  message: 'This campaign is live, and asks for no approval by another person',
  hint: 'Put `guards: { requireApproval: 1 }` into its job.yaml, and check it again.',
};

function notFound(): PageAnswer {
  return { status: 404, page: refusedPage('Not found', 'There is no such file of this run.') };
}

function askFor(count: number): Wrong {
  return { message: `Type ${count} to send: this is how many get it`, field: 'count' };
}

/** What a check found wrong with the job or its files, unless the job was changed since. */
function listFaults(started: Started | undefined, { job }: CampaignFolder): Wrong[] {
  if (started?.printed === undefined || started.jobSha256 !== job?.sha256) return [];
  if (started.printed.state === 'nothing-new')
    return [
      { message: 'All rows of this file were sent already.', hint: 'Choose another file to send to more people.' },
    ];
  if (started.printed.state === 'nothing-to-retry')
    return [{ message: 'None of these is left to send: another plan has them.' }];
  return wrongOf(started.printed);
}
