import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { isObject, readKept } from '../domain/is-object.js';
import { exampleFor } from '../guess/write-job.js';
import { loadJob } from '../job/load.js';
import { normalizeNumber } from '../normalize/number/number.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import { readOpenDoubt } from '../registry/read-runs.js';
import { type CampaignFolder, jobFileOf } from './campaign.js';
import { Desk, fieldText, type PageRequest, readFrom, viewOf } from './desk.js';
import {
  type Entry,
  homePage,
  LISTED,
  type Person,
  personPage,
  settingsPage,
  sortEntries,
} from './pages/home-pages.js';
import type { PageAnswer } from './pages/layout.js';
import { type Wrong, wrongOf } from './pages/wrong.js';
import { countWaiting, describeRunShortly, type FoundRun, findRun } from './reading.js';
import type { Team } from './team.js';

const READ_AT_ONCE = 8;
/** How far each campaign was when it was read last: a name that no campaign has. */
const ENTRIES_FILE = '.campaigns.json';

/** `stamp`: of all files that it was read from. */
type KnownEntry = Entry & { readonly stamp: string };

/** Pages about all campaigns: the list of them, a person, the settings. */
export class HomeDesk extends Desk {
  async showHome(asked: PageRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const find = fieldText(asked, 'find');
    const entries = sortEntries(await this.#list());
    const found = entries.filter(({ name }) => name.includes(find.toLowerCase()));
    const from = Math.min(readFrom(asked), Math.max(0, found.length - 1));
    const listed = { entries: found.slice(from, from + LISTED), find, from, total: found.length };
    return homePage(viewOf(asked, wrong), listed);
  }

  async create(asked: PageRequest): Promise<PageAnswer> {
    const written = fieldText(asked, 'name');
    if (written === '') return this.showHome(asked, [{ message: 'Give the campaign a name', field: 'name' }]);
    return { to: `/c/${await this.campaigns.create(written)}/file` };
  }

  /** What one person was sent, as all campaigns know that share the memory of the console. */
  async showPerson(asked: PageRequest, said?: string): Promise<PageAnswer> {
    const written = fieldText(asked, 'number');
    const campaign = await this.#findSharing();
    const entries = await this.#list();
    const countries = [...new Set(entries.map(({ country }) => country))].filter((country) => country !== '');
    const example = exampleFor(countries[0]).mobile;
    const shown = { example, said, hasCampaign: campaign !== undefined };
    const refuse = (wrong: Wrong[]) => personPage(viewOf(asked, wrong), { ...shown, number: written });
    if (written === '' || campaign === undefined) return refuse([]);
    const number = readNumber(written, countries, example);
    if (typeof number !== 'string') return refuse([number]);
    const printed = await this.run({ ...asked, campaign }, 'people', 'show', jobFileOf(campaign), number);
    if (printed.error !== null) return refuse(wrongOf(printed, 'number'));
    const { messages, list } = printed as unknown as Pick<Person, 'messages' | 'list'>;
    const found = { messages, list, campaigns: new Set(entries.map(({ name }) => name)) };
    return personPage(viewOf(asked), { ...shown, number, found });
  }

  /** Of all campaigns that share the memory, and of what is under way. */
  async optPerson(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.#findSharing();
    const verb = fieldText(asked, 'what') === 'in' ? 'opt-in' : 'opt-out';
    if (campaign === undefined) return this.showPerson(asked);
    const number = fieldText(asked, 'number');
    const printed = await this.run({ ...asked, campaign }, 'people', verb, jobFileOf(campaign), number);
    if (printed.error !== null) throw new UserError('bad-input', printed.error.message);
    return this.showPerson(asked, verb === 'opt-out' ? 'Opted out' : 'Opted in');
  }

  async #findSharing(): Promise<CampaignFolder | undefined> {
    for (const name of await this.campaigns.list()) {
      const campaign = await this.campaigns.find(name);
      if (campaign.job?.sharesMemory !== true) continue;
      if ((await loadJob(jobFileOf(campaign)).catch(() => undefined)) !== undefined) return campaign;
    }
    return undefined;
  }

  async showSettings(asked: PageRequest, team: Team | undefined): Promise<PageAnswer> {
    const { env } = this.context.terminal;
    const { service, faults } = await this.campaigns.readAccount();
    const [keys, users] = [listKeys(service?.credentials, env), await team?.list()];
    return settingsPage(viewOf(asked), { directory: dirname(this.campaigns.directory), service, faults, keys, users });
  }

  /** Only those are read of which a file has changed since, or a process sends: a run of a year ago is read once. */
  async #list(): Promise<KnownEntry[]> {
    const path = this.campaigns.stateOf(ENTRIES_FILE);
    const kept: readonly KnownEntry[] = readKept(await this.files.readText(path)) ?? [];
    const known = new Map(kept.map((each) => [each.name, each]));
    const inTurn = pLimit(READ_AT_ONCE);
    const names = await this.campaigns.list();
    const entries = await Promise.all(
      names.map(async (name) => {
        const { stamp, atMs } = await this.#look(name);
        const own = known.get(name);
        return own?.stamp === stamp ? own : { ...(await inTurn(() => this.#describe(name))), name, atMs, stamp };
      }),
    );
    const atRest = entries.filter(({ progress }) => progress !== 'sending');
    if (atRest.length !== known.size || atRest.some((each) => known.get(each.name) !== each))
      await this.files.writeWhole(path, JSON.stringify(atRest));
    return entries;
  }

  /** When and how the files were changed that say how far a campaign is: its job, its last check, and all that its runs have renamed or begun. */
  async #look(name: string): Promise<{ stamp: string; atMs: number }> {
    const directory = join(this.campaigns.directory, name);
    const state = this.campaigns.stateOf(name);
    const paths = [jobFileOf({ directory }), join(state, 'plan.json'), join(state, 'plan.out')];
    const output = join(directory, 'out');
    for (const job of await this.files.list(output)) {
      const own = await this.files.list(join(output, job));
      paths.push(join(output, job), ...own.map((each) => join(output, job, each)));
    }
    const facts = await Promise.all(paths.map((path) => this.files.stat(path)));
    const seen = facts.map((each) => each && [each.inode, each.bytes, each.changedMs, each.modifiedMs]);
    const atMs = Math.max(0, ...facts.map((each) => each?.modifiedMs ?? 0));
    return { stamp: sha256Of(JSON.stringify(seen)), atMs };
  }

  async #describe(name: string): Promise<Omit<Entry, 'name' | 'atMs'>> {
    let country = '';
    try {
      const campaign = await this.campaigns.find(name);
      country = campaign.job?.country ?? '';
      const run = await findRun(campaign, this.context);
      const { checked } = await this.checked(campaign);
      const waiting = countWaiting(checked);
      const asks = (checked?.plan.job.guards.requireApproval ?? 0) > 0;
      const waits = `${countOf(waiting, 'message')} checked, ${asks ? 'waiting for approval' : 'not sent'}`;
      if (run !== undefined) return { country, ...(await this.#describeRun(name, run, waiting > 0 ? waits : '')) };
      const isChecked = checked?.isStale === false;
      return { country, progress: isChecked ? 'checked' : 'draft', said: isChecked ? waits : '' };
    } catch (error) {
      // One that cannot be read leaves the others listed.
      const said = error instanceof Error ? error.message : String(error);
      if (!(error instanceof UserError)) this.context.log.error(`campaign ${name} cannot be read: ${said}`);
      return { country, progress: 'unreadable', said };
    }
  }

  /** `waits`: what is checked beside it, and not sent; '' where nothing is. */
  async #describeRun(name: string, run: FoundRun, waits: string): Promise<Pick<Entry, 'progress' | 'said'>> {
    if (run.runner !== undefined) return { progress: 'sending', said: describeRunShortly(run, undefined) };
    const scope = { isSandbox: run.plan.job.service.sandbox, isRunning: false };
    const { rows } = await readOpenDoubt(this.files, join(run.directory, '..'), scope);
    if (rows > 0)
      return {
        progress: 'doubt',
        said: `${countOf(rows, 'message')} in doubt: ${rows === 1 ? 'it' : 'they'} may have arrived`,
      };
    const isDone = run.summary?.state === 'finished';
    if (run.isFinished && !isDone) return { progress: 'stopped', said: 'sent, and its report is not written yet' };
    if (isDone && waits !== '') return { progress: 'checked', said: waits };
    return { progress: isDone ? 'done' : 'stopped', said: describeRunShortly(run, await this.readWhole(name, run)) };
  }
}

/** A number as it stands in files of these countries, in E.164; or why it is none, or not one alone. */
function readNumber(written: string, countries: readonly string[], example: string): string | Wrong {
  const read = [...countries, undefined].map((country) => normalizeNumber(written, country));
  const numbers = new Set(read.flatMap((each) => (each.ok ? [each.e164] : [])));
  const [number] = numbers;
  if (number !== undefined && numbers.size === 1) return number;
  const [refused] = read.flatMap((each) => (each.ok ? [] : [each]));
  const reason = refused?.code === 'not-a-number' ? `This is no phone number: ${written}` : (refused?.reason ?? '');
  const message = number === undefined ? reason : `This may be ${[...numbers].join(' or ')}`;
  return { message, hint: `With + and its country code it is clear, such as ${example}.`, field: 'number' };
}

/** Which keys of the service there are: the environment variable of each, and whether it is set. */
function listKeys(credentials: unknown, env: NodeJS.ProcessEnv, what = 'key'): [what: string, said: string][] {
  if (!isObject(credentials)) return [];
  return Object.entries(credentials).flatMap(([key, value]): [string, string][] => {
    if (key === 'env') return [[what, `from ${value}, ${env[String(value)] ? 'present' : 'not set'}`]];
    return listKeys(value, env, key === 'apiKey' ? what : `${what} of ${key}`);
  });
}
