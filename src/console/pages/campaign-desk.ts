import { dirname, join } from 'node:path';
import { lockDepsOf } from '../../command/env.js';
import { countOf } from '../../domain/count-of.js';
import { UserError, undefinedOnUserError } from '../../domain/errors.js';
import { formatZoned, ownZone } from '../../domain/stated-time.js';
import { JOURNAL_FILE } from '../../plan/format/plan-file.js';
import { readRegistry } from '../../registry/open-registry.js';
import { type Html, html, NOTHING } from '../../report/page/html.js';
import { readLockOwner } from '../../storage/lock.js';
import { describeWho } from '../audience.js';
import type { CampaignFolder, CampaignJob, Deed } from '../campaign.js';
import { countWaiting, describeRunShortly, findRun } from '../reading.js';
import { describeTiming } from '../timing.js';
import { type CampaignRequest, Desk, fieldText, type JobRequest, viewOf } from './desk.js';
import { renderRequest } from './home-desk.js';
import { type PageAnswer, renderField, renderForm, renderItems, renderPage } from './layout.js';
import { type View, type Wrong, wrongOf } from './wrong.js';

/** A campaign as a whole: what is done of it and what is next, who did what, and a copy that is sent for real. */
export class CampaignDesk extends Desk {
  /** A campaign is on the sandbox or live for good: what is sent for real is a copy. */
  async makeLive(asked: JobRequest): Promise<PageAnswer> {
    const { campaign, job } = asked;
    // Where a job cannot be read, its page says so.
    if (!job.isSandbox || !job.isReadable) return { to: `/c/${asked.name}` };
    const { written, faults } = await this.campaigns.readAccount();
    if (faults.length > 0) {
      const message = 'Nothing can be sent for real yet: this console has no account to send from';
      const request = renderRequest(dirname(this.campaigns.directory), faults);
      return this.showTasks(asked, [{ message, field: 'live' }], request);
    }
    const copy = await this.campaigns.copyLive(campaign, written, asked.user === undefined ? 0 : 1);
    await this.note({ ...asked, name: copy }, `made it of ${asked.name}`);
    return { to: `/c/${copy}` };
  }

  /** For good, with all files of it that are here. What sent something, if only a test, stays: it is the proof of that. */
  async remove(asked: CampaignRequest): Promise<PageAnswer> {
    const { name, user, campaign } = asked;
    if (fieldText(asked, 'remove') !== name)
      return this.showTasks(asked, [{ message: `Type ${name} to delete it`, field: 'remove' }]);
    if (!(await this.#isDraft(campaign)))
      return this.showTasks(asked, [{ message: 'It stays: it has sent something, or is at work' }]);
    await this.files.remove(campaign.directory);
    await this.files.remove(this.campaigns.stateOf(name));
    this.context.log.info(`campaign ${name} was deleted${user === undefined ? '' : ` by ${user.name}`}`);
    return { to: '/' };
  }

  async #isDraft({ directory, job }: CampaignFolder): Promise<boolean> {
    // One that is written by hand may have its runs elsewhere.
    if ((job?.unknown.length ?? 0) > 0) return false;
    const output = join(directory, 'out');
    for (const name of await this.files.list(output)) {
      const own = join(output, name);
      if ((await this.files.stat(own))?.isDirectory !== true) continue;
      if ((await readLockOwner(lockDepsOf(this.context.env), own)) !== undefined) return false;
      const memory = await readRegistry(this.files, own).catch(undefinedOnUserError);
      if (memory?.runs.size !== 0) return false;
      for (const run of await this.files.list(own))
        if ((await this.files.stat(join(own, run, JOURNAL_FILE))) !== undefined) return false;
    }
    return true;
  }

  async showTasks(asked: CampaignRequest, wrong: readonly Wrong[] = [], request = NOTHING): Promise<PageAnswer> {
    const { campaign } = asked;
    const { job, file } = campaign;
    const key = job?.isSandbox === false ? await this.checkJob(asked) : undefined;
    const faults = wrongOf(key, undefined, ({ file }) => file?.startsWith('service') === true);
    // A job or a run that cannot be read is put right on its own pages.
    const [run, { checked }] = await Promise.all([findRun(campaign, this.context), this.checked(campaign)]).catch(
      (error) => {
        if (!(error instanceof UserError)) throw error;
        if (faults.length === 0) faults.push({ message: error.message, hint: error.hint ?? null });
        return [undefined, { checked: undefined }] as const;
      },
    );
    const done = (isDone: boolean) => (isDone ? 'Completed' : 'Not started');
    const task = (title: string, state: string | undefined, missing = 'choose the column of the numbers'): Task =>
      state === undefined
        ? { title, state: `Cannot start yet: ${missing}` }
        : { title, state, path: title.toLowerCase() };
    const whole = await this.readWhole(asked.name, run);
    const sent = run && whole ? describeRunShortly(run, whole) : (run?.said ?? 'Not started');
    const waiting = run === undefined ? 0 : countWaiting(checked);
    const tasks = [
      task('File', done(file !== undefined || job !== undefined)),
      task('Columns', file && done(job !== undefined), 'add a file'),
      task('Message', job && done(job.message !== '')),
      task('Who', job && describeWho(job)),
      task('When', job && describeTiming(job.timing, ownZone())),
      task('Test', job && 'On your own phones, if you like'),
      task('Check', job && done(checked?.isStale === false)),
      { title: 'Send', state: sent, path: run ? 'run' : checked && 'check' },
      ...(waiting > 0
        ? [{ title: 'Send the rest', state: `${countOf(waiting, 'message')} not sent yet`, path: 'check' }]
        : []),
    ];
    const history = await this.campaigns.readHistory(asked.name);
    const isDraft = await this.#isDraft(campaign);
    return taskPage(viewOf(asked, [...wrong, ...faults]), { job, tasks, history, request, isDraft });
  }
}

interface Task {
  readonly title: string;
  readonly state: string;
  /** Its page; undefined until what must be done before is done. */
  readonly path?: string | undefined;
}

interface TasksShown {
  readonly job: CampaignJob | undefined;
  readonly tasks: readonly Task[];
  readonly history: readonly Deed[];
  /** What is to be asked for before it can be sent for real. */
  readonly request: Html;
  /** Nothing of it was sent: it can be deleted. */
  readonly isDraft: boolean;
}

const LAST_DEEDS = 5;

function taskPage(view: View, { job, tasks, history, request, isDraft }: TasksShown): PageAnswer {
  const name = view.campaign?.name ?? '';
  const lines = history.map(
    ({ at, by, did }) => html`${formatZoned(Date.parse(at), ownZone())}: ${`${by} ${did}`.trim()}`,
  );
  const [last, before] = [lines.slice(0, LAST_DEEDS), lines.slice(LAST_DEEDS)];
  const older = html`<details><summary>${countOf(before.length, 'entry', 'entries')} before</summary>${renderItems(before)}</details>`;
  const deeds = html`<h2>History</h2>${renderItems(last)}${before.length > 0 && older}`;
  const items = tasks.map(
    ({ title, path, state }) =>
      html`${path === undefined ? html`<span>${title}</span>` : html`<a href="${view.at}/${path}">${title}</a>`}<span class="state">${state}</span>`,
  );
  const live =
    job?.isSandbox === true &&
    html`<h2 id="live">Send it for real</h2>${request}<p>This campaign stays on the sandbox. A live copy has the same people, text and times, is sent from your account, and is checked anew.</p>${renderForm(view, 'live', html`<button class="quiet">Make a live copy</button>`)}`;
  const hint = `Type ${name} to delete it for good, with its files. Nothing of it was sent.`;
  const remove =
    isDraft &&
    html`<details${view.wrong.some(({ field }) => field === 'remove') && html` open`}><summary>Delete this draft</summary>${renderForm(view, 'delete', html`${renderField(view, { id: 'remove', label: 'Name of the campaign', hint, attributes: html` autocomplete="off"` })}<button class="quiet">Delete it</button>`)}</details>`;
  return renderPage(view, {
    title: name,
    body: html`<h1>${name}</h1>${renderItems(items, true)}${live}${lines.length > 0 && deeds}${remove}`,
    command: 'volley status job.yaml',
  });
}
