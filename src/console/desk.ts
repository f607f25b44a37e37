import { join } from 'node:path';
import type { Context } from '../command/context.js';
import { UserError } from '../domain/errors.js';
import type { Files } from '../storage/files.js';
import type { Visit } from './access.js';
import { type CampaignFolder, type CampaignJob, Campaigns, jobFileOf } from './campaign.js';
import type { Commands, Printed, Started } from './commands.js';
import { handWrittenPage } from './pages/campaign-pages.js';
import type { View } from './pages/layout.js';
import type { Checked } from './pages/sending-pages.js';
import { readChecked } from './reading.js';

/** What a form or a query says. */
export type FormFields = Readonly<Record<string, unknown>>;

/** A page or a form that was asked for. */
export interface PageRequest extends Visit {
  /** Of the path. */
  readonly name: string;
  readonly output: string;
  readonly fields: FormFields;
  /** Of an upload without a script. */
  readonly file?: { readonly name: string; readonly bytes: Uint8Array };
}

/** What a request is answered with. `to`: another page, after every form that did something. */
export interface PageAnswer {
  readonly status?: number;
  readonly page?: string;
  readonly json?: object;
  readonly to?: string;
  readonly file?: { readonly path: string; readonly name: string };
}

/** The campaigns of a directory, and the commands that do what a page asks for. */
export class Desk {
  protected readonly campaigns: Campaigns;
  protected readonly commands: Commands;
  protected readonly context: Context;
  protected readonly files: Files;

  /** `commands`: of all desks, so that each knows what another started. */
  constructor({ directory, commands }: { readonly directory: string; readonly commands: Commands }, context: Context) {
    this.context = context;
    this.files = context.env.files;
    this.campaigns = new Campaigns(directory, this.files);
    this.commands = commands;
  }

  protected async find(name: string): Promise<CampaignFolder> {
    const campaign = await this.campaigns.find(name);
    if (campaign === undefined) throw new UserError('bad-input', `There is no campaign ${JSON.stringify(name)}`);
    return campaign;
  }

  /** A campaign whose job the forms know whole; else the page that stands for its form. */
  protected async openForm(
    asked: PageRequest,
  ): Promise<{ campaign: CampaignFolder; job: CampaignJob } | { page: PageAnswer }> {
    const campaign = await this.find(asked.name);
    const { job } = campaign;
    if (job === undefined) return { page: { to: `/c/${asked.name}/columns` } };
    if (job.unknown.length > 0) return { page: { page: handWrittenPage(viewOf(asked, campaign), campaign) } };
    return { campaign, job };
  }

  /** `verb`: of the command that is waited for. */
  async lookAt(asked: PageRequest, verb: string, said: string): Promise<PageAnswer> {
    const started = await this.commands.find(this.campaigns.stateOf(asked.name), verb);
    return { json: { isOver: started === undefined || started.printed !== undefined, said } };
  }

  /** What `volley check` says of the job as it stands. */
  protected checkJob({ user: actor }: PageRequest, campaign: CampaignFolder): Promise<Printed> {
    return this.commands.run({ actor, directory: campaign.directory, args: ['check', jobFileOf(campaign)] });
  }

  /** The plan of the last check, unless that is still under way or found something wrong. */
  protected async checked(
    campaign: CampaignFolder,
  ): Promise<{ started: Started | undefined; checked: Checked | undefined }> {
    const started = await this.commands.find(this.campaigns.stateOf(campaign.name), 'plan');
    const directory = started?.printed?.directory;
    if (started === undefined || typeof directory !== 'string' || started.printed?.state !== 'planned')
      return { started, checked: undefined };
    const isStale = started.jobSha256 !== campaign.job?.sha256;
    const isThere = (await this.files.stat(join(directory, 'plan.json'))) !== undefined;
    return { started, checked: isThere ? await readChecked(directory, this.context.env, isStale) : undefined };
  }
}

/** Whether a form has the number that is to be typed, in whatever writing. */
export function isTyped({ fields }: PageRequest, count: number): boolean {
  return String(fields.count ?? '').replaceAll(/[\s,.']/g, '') === String(count);
}

export function viewOf({ formToken, user, isSignedIn }: PageRequest, { name, job }: CampaignFolder): View {
  return {
    formToken,
    user,
    isSignedIn,
    campaign: { name, isSandbox: job?.isSandbox ?? true, account: job?.account ?? '' },
  };
}
