import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Document } from 'yaml';
import type { Context } from '../../command/context.js';
import { describeFailure } from '../../command/failure.js';
import { UserError } from '../../domain/errors.js';
import { type CampaignReport, readCampaignReport } from '../../registry/report-campaign.js';
import { html } from '../../report/page/html.js';
import type { Files } from '../../storage/files.js';
import type { Visit } from '../access.js';
import { type CampaignFolder, type CampaignJob, type Campaigns, jobFileOf } from '../campaign.js';
import type { Commands, CommandToStart, Printed, Started } from '../commands.js';
import { type FoundRun, readChecked } from '../reading.js';
import { refusePath } from '../uploads.js';
import { type PageAnswer, renderPage, WORK, type Work } from './layout.js';
import { type View, type Wrong, wrongOf } from './wrong.js';

/** What a form or a query says. */
export type FormFields = Readonly<Record<string, unknown>>;

/** A page or a form that was asked for. */
export interface PageRequest extends Visit {
  readonly name: string;
  readonly output: string;
  readonly fields: FormFields;
  /** The file of a form that has one with rows; its name is undefined where no file of people can be called so. */
  readonly file?: { readonly name: string | undefined; readonly bytes: Uint8Array };
}

export interface CampaignRequest extends PageRequest {
  readonly campaign: CampaignFolder;
}

export interface JobRequest extends CampaignRequest {
  readonly job: CampaignJob;
}

export type Respond<Request> = (asked: Request) => Promise<PageAnswer>;

/** What needs a job; without one, the page that makes it. */
export function givenJob(act: Respond<JobRequest>): Respond<CampaignRequest> {
  return async (asked) => {
    const { job } = asked.campaign;
    return job === undefined ? { to: `/c/${asked.name}/columns` } : act({ ...asked, job });
  };
}

/** What changes a job; one that the forms do not know whole is shown in the place of it. */
export function unlessHandWritten<Request extends CampaignRequest>(act: Respond<Request>): Respond<Request> {
  return async (asked) =>
    (asked.campaign.job?.unknown.length ?? 0) > 0 ? handWrittenPage(viewOf(asked), asked.campaign) : act(asked);
}

/** What a person must change before the page can be shown, on one that leads back to the campaign. */
export function problemPage(asked: CampaignRequest, error: unknown): PageAnswer {
  if (!(error instanceof UserError)) throw error;
  const wrong = wrongOf({ ...describeFailure(error) });
  return {
    ...renderPage(viewOf(asked, wrong), { title: 'Not shown', body: html`<h1>This cannot be shown now</h1>` }),
    status: 409,
  };
}

/** A job that was written by hand: it is shown, and changed where it was written. */
function handWrittenPage(view: View, { job }: CampaignFolder): PageAnswer {
  return renderPage(view, {
    title: 'Written by hand',
    body: html`<h1>This campaign is changed by hand</h1><p>It has what these pages do not show: ${job?.unknown.join(', ') ?? ''}. It can be checked and sent here; who wrote it changes it, in its file.</p><pre>${job?.text ?? ''}</pre>`,
  });
}

/**
 * A form that changes a job, pressed twice: the second press has the answer of the first, as long as the job is as that left it. By what the
 * form says of the job it would be another person's.
 */
export function oncePressed(act: Respond<JobRequest>, campaigns: Campaigns): Respond<JobRequest> {
  const last = new Map<string, { pressed: string; left: string | undefined; answer: PageAnswer }>();
  return async (asked) => {
    const { name, fields, file } = asked;
    const pressed = hash('sha256', JSON.stringify([fields, file?.name, file && hash('sha256', file.bytes)]));
    const before = last.get(name);
    if (before?.pressed === pressed && before.left === asked.job.sha256) return before.answer;
    const answer = await act(asked);
    if (answer.to !== undefined) last.set(name, { pressed, left: (await campaigns.find(name)).job?.sha256, answer });
    return answer;
  };
}

/** How long a page waits for what it shows, before it says that this is on its way. */
export const PATIENCE_MS = 1500;

/** The campaigns of a directory, and the commands that do what a page asks for. */
export class Desk {
  readonly #making = new Map<string, { readonly key: string; readonly made: Promise<unknown> }>();
  protected readonly campaigns: Campaigns;
  protected readonly commands: Commands;
  protected readonly context: Context;
  protected readonly files: Files;

  constructor(campaigns: Campaigns, commands: Commands, context: Context) {
    this.campaigns = campaigns;
    this.commands = commands;
    this.context = context;
    this.files = context.env.files;
  }

  /** What a command has printed that takes a moment, and sends nothing. */
  protected run({ user, campaign }: CampaignRequest, ...args: string[]): Promise<Printed> {
    return this.commands.run({ actor: user, directory: campaign.directory, args });
  }

  /** What a command has printed that reads only the job, its lists and the first rows of its files. */
  protected runHere({ user, campaign }: CampaignRequest, ...args: string[]): Promise<Printed> {
    return this.commands.runHere({ actor: user, directory: campaign.directory, args });
  }

  /**
   * Waits a moment for what takes long with a large list; undefined where it is not made by then. It is made on, and asked for again by the same
   * key it is not made twice. `waitMs`: undefined waits for its end; `isKept`: until another is made of the campaign.
   */
  protected async soon<T>(
    slot: string,
    { key, waitMs, isKept }: { readonly key: string; readonly waitMs: number | undefined; readonly isKept: boolean },
    make: () => Promise<T>,
  ): Promise<T | undefined> {
    const last = this.#making.get(slot);
    const made = last?.key === key ? (last.made as Promise<T>) : make();
    if (last?.key !== key) {
      this.#making.set(slot, { key, made });
      const forget = () => this.#making.delete(slot);
      made.then(isKept ? undefined : forget, forget);
    }
    if (waitMs === undefined) return made;
    const late = new AbortController();
    const wait = this.context.env.clock.sleep(waitMs, late.signal).then(() => undefined);
    return Promise.race([made, wait]).finally(() => late.abort());
  }

  protected refusePath({ user }: PageRequest, path: string): Promise<string | undefined> {
    return refusePath(this.files, path, user === undefined ? undefined : dirname(this.campaigns.directory));
  }

  protected checkJob(asked: CampaignRequest): Promise<Printed> {
    return this.runHere(asked, 'check', jobFileOf(asked.campaign));
  }

  protected async note({ user, name }: PageRequest, did: string): Promise<void> {
    const by = user?.name ?? this.context.terminal.env.VOLLEY_ACTOR ?? '';
    await this.campaigns.note(name, { at: new Date(this.context.env.clock.now()).toISOString(), by, did });
  }

  /** Changes the job file that a form is about, of which comments and all other keys stay; false where it is another by now. */
  protected async edit(asked: JobRequest, did: string, change: (document: Document) => void): Promise<boolean> {
    const isSame = asked.fields.sha256 === asked.job.sha256 && (await this.campaigns.edit(asked.campaign, change));
    if (isSame) await this.note(asked, did);
    return isSame;
  }

  /** Starts a command, and leads to the page that waits for it. */
  protected async start(asked: CampaignRequest, work: Work, command: Pick<CommandToStart, 'args' | 'verb' | 'about'>) {
    const { name, directory, job } = asked.campaign;
    const own = { actor: asked.user, directory, jobSha256: job?.sha256 ?? '' };
    const isFirst = await this.commands.start(this.campaigns.stateOf(name), work, { ...own, ...command });
    if (isFirst) await this.note(asked, WORK[work].did);
    return { to: `/c/${name}/${WORK[work].page}` };
  }

  /** Sends a plan, or resumes its run. */
  protected async apply(asked: CampaignRequest, directory: string, plan: string, ...more: string[]) {
    // What a settlement was refused for is past.
    await this.files.remove(join(this.campaigns.stateOf(asked.name), 'settle.json'));
    return this.start(asked, 'apply', { about: plan, args: [directory, '--confirm', plan, ...more] });
  }

  protected started(name: string, work: Work): Promise<Started | undefined> {
    return this.commands.find(this.campaigns.stateOf(name), work);
  }

  /** A run and all that have rows of it, or of each other, as one; undefined where it is alone, or a process sends. */
  protected async readWhole(name: string, run: FoundRun | undefined): Promise<CampaignReport | undefined> {
    if (run === undefined || run.runner !== undefined) return undefined;
    await this.files.makeDirectory(this.campaigns.stateOf(name));
    return readCampaignReport(this.files, run, join(this.campaigns.stateOf(name), 'campaign.json'));
  }

  /** The plan of the last check, unless that is still under way or found something wrong. */
  protected async checked({ name, job }: CampaignFolder) {
    const started = await this.started(name, 'plan');
    const directory = started?.printed?.directory;
    if (started === undefined || typeof directory !== 'string' || started.printed?.state !== 'planned')
      return { started, checked: undefined };
    const isStale = started.jobSha256 !== job?.sha256;
    const isThere = (await this.files.stat(join(directory, 'plan.json'))) !== undefined;
    return { started, checked: isThere ? await readChecked(directory, this.context.env, isStale) : undefined };
  }
}

/** A field of a form or a query; '' where it has none. */
export function fieldText({ fields }: Pick<PageRequest, 'fields'>, name: string): string {
  return String(fields[name] ?? '').trim();
}

/** Reads a text that a form sent: its line ends are CR LF. */
export function textOfForm(text: unknown): string {
  return String(text ?? '').replaceAll(/\r\n?/g, '\n');
}

/** How many of a list are before its page. */
export function readFrom(asked: PageRequest): number {
  const from = Number(fieldText(asked, 'from'));
  return Number.isSafeInteger(from) && from > 0 ? from : 0;
}

/** Whether a form has the number that is to be typed, in whatever writing. */
export function isTyped(asked: PageRequest, count: number): boolean {
  return fieldText(asked, 'count').replaceAll(/[\s,.']/g, '') === String(count);
}

/** Refuses another number than that. */
export function askFor(count: number): Wrong {
  return { message: `Type ${count} to send: this is how many get it`, field: 'count' };
}

export function viewOf(
  { formToken, user, isSignedIn, campaign, fields }: PageRequest & { readonly campaign?: CampaignFolder },
  wrong: readonly Wrong[] = [],
): View {
  const visit = { formToken, user, isSignedIn, wrong, written: wrong.length > 0 ? fields : {} };
  if (campaign === undefined) return { ...visit, at: '', campaign };
  const { name, job = { isSandbox: true, account: '', sha256: '' } } = campaign;
  return { ...visit, at: `/c/${name}`, campaign: { ...job, name } };
}
