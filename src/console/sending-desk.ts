import { join } from 'node:path';
import { countOf, listNonZero } from '../domain/count-of.js';
import type { Balance } from '../domain/row.js';
import { normalizeNumber, splitNumbers } from '../normalize/number/number.js';
import { EXIT } from '../report/exit-code.js';
import { findUnasked } from './audience.js';
import { readSample } from './audience-desk.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';
import type { Started } from './commands.js';
import { type CampaignRequest, Desk, fieldText, isTyped, type JobRequest, viewOf } from './desk.js';
import { type PageAnswer, refusedPage, waitPage } from './pages/layout.js';
import { checkPage, runPage, TEST_ROWS, testPage, whatNext } from './pages/sending-pages.js';
import { type Wrong, wrongOf } from './pages/wrong.js';
import { type Checked, countWaiting, findRun, listEarlier } from './reading.js';

/** From tests to own phones and the check of a campaign to its report: it starts the commands, and shows what became of them. */
export class SendingDesk extends Desk {
  /** What was typed as own numbers, by campaign: it stays in the field. */
  readonly #tested = new Map<string, string>();

  async showTest(asked: JobRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { isAtWork, printed } = (await this.started(asked.name, 'test')) ?? {};
    if (isAtWork === true) return waitPage(viewOf(asked), 'test');
    const previewed = await this.runHere(asked, 'preview', jobFileOf(asked.campaign), '--count', '1');
    const [row] = (previewed.rows ?? []) as readonly { price?: { amount: string | null; currency: string } }[];
    const amount = row?.price?.amount ?? undefined;
    const all = wrong.length > 0 ? wrong : wrongOf(printed, 'to');
    return testPage(viewOf(asked, all), {
      numbers: String(asked.fields.to ?? this.#tested.get(asked.name) ?? asked.job.testNumbers),
      last: String(printed?.plan ?? ''),
      price: amount === undefined ? undefined : `${amount} ${row?.price?.currency}`,
      said: printed?.balance === undefined ? undefined : describeTest(printed.balance as Balance),
    });
  }

  /** Of the plan that was checked, where the campaign was not changed since: then it counts where a job asks for a test. */
  async test(asked: JobRequest): Promise<PageAnswer> {
    const { campaign, fields } = asked;
    const [to, row] = [fieldText(asked, 'to'), fieldText(asked, 'row')];
    const wrong = refuseNumbers(to, asked.job.country);
    if (wrong.length > 0) return this.showTest(asked, wrong);
    this.#tested.set(asked.name, to);
    if (asked.job.message === '') return this.showTest(asked, [UNWRITTEN]);
    const before = await this.started(asked.name, 'test');
    if (before !== undefined && fields.last !== String(before.printed?.plan ?? ''))
      return { to: `/c/${asked.name}/test` };
    const { checked } = await this.checked(campaign);
    const of = checked?.isStale === false ? checked.directory : jobFileOf(campaign);
    const choice = TEST_ROWS.some(([flag]) => flag !== '' && flag === row) ? [`--${row}`] : [];
    return this.start(asked, 'test', { args: [of, `--to=${to}`, ...choice] });
  }

  async showCheck(asked: JobRequest, more: readonly Wrong[] = []): Promise<PageAnswer> {
    const { started, checked } = await this.checked(asked.campaign);
    if (started?.isAtWork === true) return waitPage(viewOf(asked), 'plan');
    const run = checked === undefined ? undefined : await findRun(asked.campaign, this.context);
    const whole = await this.readWhole(asked.name, run);
    const sample = checked && (await readSample(asked, this.files).catch(() => undefined));
    const last = whole?.summary ?? run?.summary;
    const earlier = run === undefined ? [] : await listEarlier(this.files, run, whole);
    const accepted = earlier.reduce((sum, each) => sum + each.accepted, last?.balance.accepted ?? 0);
    return checkPage(viewOf(asked, [...more, ...listFaults(started, asked.campaign)]), {
      unasked: findUnasked(sample, asked.job.ticked),
      checked,
      before: last?.startedAt == null ? undefined : { accepted, since: earlier.at(-1)?.since ?? last.startedAt },
      nowMs: this.context.env.clock.now(),
    });
  }

  async check(asked: JobRequest): Promise<PageAnswer> {
    const { campaign, job } = asked;
    if (asked.user !== undefined && !job.isSandbox && !job.asksApproval) return this.showCheck(asked, [ALONE]);
    if (job.message === '') return this.showCheck(asked, [UNWRITTEN]);
    return this.start(asked, 'plan', { args: [jobFileOf(campaign)] });
  }

  async send(asked: JobRequest): Promise<PageAnswer> {
    const { checked } = await this.checked(asked.campaign);
    const run = await findRun(asked.campaign, this.context);
    // A second click, a reload: it is on its way.
    if (run !== undefined && checked !== undefined && run.plan.id === checked.plan.id)
      return { to: `/c/${asked.name}/run` };
    if (checked?.count === undefined || checked.isStale || asked.fields.plan !== checked.planSha256) {
      const message = 'This is another plan now. Look at it, and type its number.';
      return this.showCheck(asked, [{ message, status: 409 }]);
    }
    if (!isTyped(asked, checked.count)) return this.showCheck(asked, [askFor(checked.count)]);
    return (await this.#approve(asked, checked)) ?? this.#apply(asked, checked.directory, checked.plan.id);
  }

  async #approve(asked: JobRequest, checked: Checked): Promise<PageAnswer | undefined> {
    const next = whatNext(asked, checked);
    const refuse = (wrong: Wrong) => this.showCheck(asked, [{ ...wrong, status: 403 }]);
    // Whatever made the plan: a check, corrected rows, a retry.
    if (asked.user !== undefined && !checked.plan.job.service.sandbox && checked.approvals.required === 0)
      return refuse(ALONE);
    if (next === 'send') return undefined;
    if (next === 'ask') return refuse({ message: 'Another person approves this plan' });
    const printed = await this.run(asked, 'approve', checked.directory, '--confirm', checked.planSha256);
    if (printed.exitCode !== 0) return this.showCheck(asked, wrongOf(printed));
    await this.note(asked, 'approved it');
    return printed.state === 'approved' ? undefined : { to: `/c/${asked.name}/check` };
  }

  async goOn(asked: JobRequest): Promise<PageAnswer> {
    const run = await findRun(asked.campaign, this.context, fieldText(asked, 'run'));
    if (run === undefined || run.runner !== undefined) return { to: `/c/${asked.name}/run` };
    const { rest } = run;
    if (rest !== undefined && (!isTyped(asked, rest.count) || asked.fields.stage !== String(rest.stage)))
      return this.showRun(asked, [askFor(rest.count)]);
    const pass = rest === undefined ? [] : ['--pass-stage', `${rest.stage}`];
    return this.#apply(asked, run.directory, run.plan.id, ...pass);
  }

  #apply(asked: JobRequest, directory: string, plan: string, ...more: string[]): Promise<PageAnswer> {
    return this.start(asked, 'apply', { run: plan, args: [directory, '--confirm', plan, ...more] });
  }

  async #running(campaign: CampaignFolder) {
    const started = await this.started(campaign.name, 'apply');
    const run = await findRun(campaign, this.context, started?.isAtWork ? started.run : '');
    const isStarting = started?.isAtWork === true && run?.runner === undefined;
    // What a run itself came to, its account says; what refused it or stopped it, only this.
    const { printed } = started ?? {};
    const isFault = run === undefined || printed?.exitCode === EXIT.notStarted || printed?.exitCode === EXIT.stopped;
    return { run, isStarting, wrong: isFault ? wrongOf(printed) : [] };
  }

  async showRun(asked: JobRequest, more: readonly Wrong[] = []): Promise<PageAnswer> {
    const { run, isStarting, wrong: faults } = await this.#running(asked.campaign);
    const wrong = [...more, ...faults];
    if (isStarting) return waitPage(viewOf(asked, wrong), 'apply');
    if (run === undefined) return wrong.length === 0 ? { to: `/c/${asked.name}/check` } : this.showCheck(asked, wrong);
    const id = fieldText(asked, 'run');
    const named = id === '' ? run : await findRun(asked.campaign, this.context, id);
    // A process that sends is at work on the newest.
    const shown = named === undefined || named.plan.id === run.plan.id ? run : { ...named, runner: undefined };
    const waiting = countWaiting((await this.checked(asked.campaign)).checked);
    const whole = await this.readWhole(asked.name, run);
    const earlier = await listEarlier(this.files, run, whole);
    return runPage(viewOf(asked, wrong), { ...shown, whole, waiting, earlier, isOne: id !== '' });
  }

  /** One signal for each time that the lock was taken, after a look at who has it now. */
  async stop(asked: CampaignRequest): Promise<PageAnswer> {
    const { runner } = (await findRun(asked.campaign, this.context)) ?? {};
    if (runner?.isHere === true && this.commands.stop(runner.pid, runner.instance))
      await this.note(asked, 'stopped it');
    return { to: `/c/${asked.name}/run` };
  }

  async openOutput({ campaign, output, fields }: CampaignRequest): Promise<PageAnswer> {
    const run = await findRun(campaign, this.context, fieldText({ fields }, 'run'));
    if (run === undefined || !run.outputs.includes(output))
      return refusedPage(404, 'Not found', 'There is no such file of this run.');
    return { file: { path: join(run.directory, output), name: output } };
  }
}

/** Each that is none is named: what is typed by hand has slips. */
function refuseNumbers(to: string, country: string): Wrong[] {
  const numbers = splitNumbers(to);
  if (numbers.length === 0) return [{ message: 'Give a number of your own', field: 'to' }];
  const wrong = numbers.filter((each) => ![undefined, country].some((of) => normalizeNumber(each, of || undefined).ok));
  const hint = 'With + and its country code it is clear.';
  return wrong.map((each) => ({ message: `“${each}” is not a phone number`, hint, field: 'to' }));
}

function describeTest({ accepted, rejected, inDoubt }: Balance): string {
  const others = listNonZero({ rejected, 'in doubt': inDoubt });
  return `The last test: ${[`${countOf(accepted, 'message')} accepted`, ...others].join(', ')}.`;
}

const UNWRITTEN: Wrong = {
  message: 'The message is not written yet',
  hint: 'Write it, and whom it is from, on its page Message.',
};

/** Where several people share a console. */
const ALONE: Wrong = {
  message: 'This campaign is live, and asks for no approval by another person',
  hint: '“Make a live copy” makes one that does. Or ask the person who wrote its job file to add `guards: { requireApproval: 1 }`, and check it again.',
};

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
