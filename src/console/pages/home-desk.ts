import { basename, dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { countOf, format } from '../../domain/count-of.js';
import { messageOf, quoteWord, UserError } from '../../domain/errors.js';
import { isObject, parseJson } from '../../domain/is-object.js';
import { formatTime, formatZoned, ownZone } from '../../domain/stated-time.js';
import { exampleFor } from '../../guess/write-job.js';
import { defaultLimits } from '../../job/limits.js';
import { loadJob } from '../../job/load.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX } from '../../job/schema/service.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { MessageToPerson } from '../../people/list-person.js';
import { PERSON_WORDS } from '../../people/people-file.js';
import { sha256Of } from '../../plan/format/sealed-json.js';
import { readOpenDoubt } from '../../registry/read-runs.js';
import { type Html, html, renderTable } from '../../report/page/html.js';
import { may, type Team } from '../access.js';
import { type CampaignFolder, jobFileOf } from '../campaign.js';
import { countWaiting, describeRunShortly, type FoundRun, findRun } from '../reading.js';
import { Desk, fieldText, type PageRequest, readFrom, viewOf } from './desk.js';
import {
  type PageAnswer,
  renderField,
  renderForm,
  renderHidden,
  renderItems,
  renderPage,
  renderPages,
} from './layout.js';
import { type View, type Wrong, wrongOf } from './wrong.js';

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
    const total = found.length;
    const from = Math.min(readFrom(asked), Math.max(0, total - 1));
    const shown = found.slice(from, from + LISTED);
    const view = viewOf(asked, wrong);
    const groups = GROUPS.map(([title, has]) => {
      const own = shown.filter(({ progress }) => has.includes(progress));
      const items = own.map(({ name, progress, said }) => {
        const at = `/c/${name}${progress === 'doubt' ? '/doubt' : progress === 'checked' ? '/check' : ''}`;
        return html`<a href="${at}">${name}</a> <span class="dim">${said}</span>`;
      });
      return own.length > 0 && html`<h2>${title}</h2>${renderItems(items)}`;
    });
    const search =
      total === 0 && find === ''
        ? html`<p class="lead">No campaigns yet. Start with a file of people.</p>`
        : html`<form method="get" action="/" role="search"><p class="field"><label for="find">Find by name</label><input id="find" name="find" value="${find}" type="search"> <button class="quiet">Find</button></p></form>`;
    const none =
      find !== '' &&
      total === 0 &&
      html`<p class="lead">No campaign has “${find}” in its name. <a href="/">Show all</a></p>`;
    const place =
      total > LISTED &&
      html`<p class="dim">Campaigns ${format(from + 1)} to ${format(from + shown.length)} of ${format(total)}.</p>`;
    const pages = renderPages({ from, shown: shown.length, total, most: LISTED }, find === '' ? {} : { find });
    const create = html`${renderField(view, { id: 'name', label: 'Name of the campaign', hint: 'Such as spring-sale. Its files are in a directory of this name.', attributes: html` maxlength="60" autocomplete="off"` })}<button>Start a campaign</button>`;
    return renderPage(view, {
      title: 'Campaigns',
      body: html`<h1>Campaigns</h1>${search}${none}${place}${groups}${pages}<h2>New campaign</h2>${renderForm(view, 'new', create)}`,
      command: 'volley runs',
    });
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

  /** Opts a person out or in, for all campaigns that share the memory, and for what is under way. */
  async optPerson(asked: PageRequest): Promise<PageAnswer> {
    const campaign = await this.#findSharing();
    const verb = fieldText(asked, 'what') === 'in' ? 'opt-in' : 'opt-out';
    // Not from a page, it may be anything, such as a flag.
    const number = normalizeNumber(fieldText(asked, 'number'), undefined);
    if (campaign === undefined || !number.ok) return this.showPerson(asked);
    const printed = await this.run({ ...asked, campaign }, 'people', verb, jobFileOf(campaign), number.e164);
    if (printed.error !== null) throw new UserError('bad-input', printed.error.message);
    return this.showPerson(asked, verb === 'opt-out' ? 'Opted out' : 'Opted in');
  }

  async #findSharing(): Promise<CampaignFolder | undefined> {
    for (const name of await this.campaigns.list()) {
      const campaign = await this.campaigns.find(name).catch(() => undefined);
      if (campaign?.job?.sharesMemory !== true) continue;
      if ((await loadJob(jobFileOf(campaign)).catch(() => undefined)) !== undefined) return campaign;
    }
    return undefined;
  }

  async showSettings(asked: PageRequest, team: Team | undefined): Promise<PageAnswer> {
    const { service, faults } = await this.campaigns.readAccount();
    const directory = dirname(this.campaigns.directory);
    const { requestsPerSecond, messagesPerSecond, concurrency } = defaultLimits.sms;
    const { account = '', region = '', bases = {}, dlrCallbackUrl } = service ?? {};
    // Its path may hold a secret.
    const receipts =
      dlrCallbackUrl === undefined ? 'nowhere: no report says who was reached' : new URL(dlrCallbackUrl).origin;
    const rows = [
      ['account', account],
      ['region', region],
      ['subaccount', service?.subAccountId ?? `${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`],
      ...Object.entries(bases).flatMap(([area, base]) => (base === undefined ? [] : [[`address of ${area}`, base]])),
      ['delivery receipts go to', receipts],
      ...listKeys(service?.credentials, this.context.terminal.env),
    ];
    const people = (await team?.list())?.map(({ name, role }) => [name, role]);
    return renderPage(viewOf(asked), {
      title: 'Settings',
      body: html`<h1>Settings</h1><p>They are read here; the person who keeps this console changes them, in <code>${directory}</code>.</p>
<h2>The account of live campaigns</h2>${faults.length > 0 ? renderRequest(directory, faults) : html`<p>A live copy of a campaign is sent from it.</p>${renderTable({ name: 'Account', columns: ['what', 'is'] }, rows)}`}
<h2>Prices and limits</h2><p>${requestsPerSecond} requests and ${format(messagesPerSecond ?? 0)} messages a second at most, ${concurrency} at once. The person who keeps this console can give a campaign other limits, and prices, so that its check says what it costs.</p>
<h2>Users</h2>${people === undefined ? html`<p>You alone, by a link. The person who keeps this console begins a team with <code>volley console --users users.csv --add Anna --role author</code></p>` : html`${renderTable({ name: 'Users', columns: ['name', 'role'] }, people)}<p>The person who keeps this console adds others: <code>volley console --users users.csv --add Anna --role author</code></p>`}`,
      command: 'volley check job.yaml --online',
    });
  }

  /** Only those are read of which a file has changed since, or a process sends: a run of a year ago is read once. */
  async #list(): Promise<KnownEntry[]> {
    const path = this.campaigns.stateOf(ENTRIES_FILE);
    const kept: readonly KnownEntry[] = parseJson(await this.files.readText(path)) ?? [];
    const known = new Map(kept.map((each) => [each.name, each]));
    const inTurn = pLimit(READ_AT_ONCE);
    const names = await this.campaigns.list();
    const entries = await Promise.all(
      names.map(async (name) => {
        const { stamp, atMs } = await this.#look(name).catch(() => ({ stamp: '', atMs: 0 }));
        const own = known.get(name);
        return own?.stamp === stamp ? own : { ...(await inTurn(() => this.#describe(name))), name, atMs, stamp };
      }),
    );
    const atRest = entries.filter(({ progress }) => progress !== 'sending');
    // A full disk keeps no one from the list: it is only read anew each time.
    if (atRest.length !== known.size || atRest.some((each) => known.get(each.name) !== each))
      await this.files.writeWhole(path, JSON.stringify(atRest)).catch(() => {});
    return entries;
  }

  /** When and how the files were changed that say how far a campaign is: its job, its last check, and all that its runs have renamed or begun. */
  async #look(name: string): Promise<{ stamp: string; atMs: number }> {
    const directory = join(this.campaigns.directory, name);
    const state = this.campaigns.stateOf(name);
    const paths = [jobFileOf({ directory }), join(state, 'plan.json'), join(state, 'plan.out')];
    const output = join(directory, 'out');
    for (const job of await this.files.list(output)) {
      const own = join(output, job);
      // Events of a listener stand beside the jobs.
      if ((await this.files.stat(own))?.isDirectory !== true) continue;
      paths.push(own, ...(await this.files.list(own)).map((each) => join(own, each)));
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
      const said = messageOf(error);
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
    const isDone = run.summary?.state === 'finished' || run.isLetGo;
    if (run.isFinished && !isDone) return { progress: 'stopped', said: 'sent, and its report is not written yet' };
    if (isDone && waits !== '') return { progress: 'checked', said: waits };
    const { isSample, stage, count = 0 } = run.rest ?? {};
    const rest = `${isSample ? 'the sample' : `stage ${stage}`} is sent, ${countOf(count, 'message')} ${count === 1 ? 'waits' : 'wait'} for you`;
    if (run.rest !== undefined) return { progress: 'stopped', said: rest };
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

type CampaignProgress = 'draft' | 'checked' | 'sending' | 'stopped' | 'doubt' | 'unreadable' | 'done';

interface Entry {
  readonly name: string;
  readonly progress: CampaignProgress;
  readonly said: string;
  /** The country of numbers without +; '' where its job names none. */
  readonly country: string;
  readonly atMs: number;
}

const GROUPS: readonly (readonly [title: string, has: readonly CampaignProgress[]])[] = [
  ['Needs you', ['doubt', 'unreadable', 'stopped', 'checked']],
  ['Sending', ['sending']],
  ['Drafts', ['draft']],
  ['Done', ['done']],
];
const ORDER = GROUPS.flatMap(([, has]) => has);

const LISTED = 50;

/** Group by group, those that were changed last first. */
function sortEntries<Of extends Entry>(entries: readonly Of[]): Of[] {
  const placeOf = ({ progress }: Entry) => ORDER.indexOf(progress);
  return entries.toSorted((one, other) => placeOf(one) - placeOf(other) || other.atMs - one.atMs);
}

/** What is known of one person. `campaigns`: those that a message may be of. */
interface Person {
  readonly messages: readonly MessageToPerson[];
  readonly list: string | null;
  readonly campaigns: ReadonlySet<string>;
}

interface PersonShown {
  readonly number: string;
  readonly found?: Person;
  readonly example: string;
  readonly said: string | undefined;
  readonly hasCampaign: boolean;
}

function personPage(view: View, shown: PersonShown): PageAnswer {
  const { number, found, example, hasCampaign } = shown;
  const ask = html`${renderField(view, { id: 'number', label: 'Number', hint: `As it stands in your files, or with + and its country code, such as ${example}.`, value: number, attributes: html` type="tel" autocomplete="off"` })}<button>Look it up</button>`;
  return renderPage(view, {
    title: 'A person',
    body: html`<h1>One person</h1><p>What a person was sent, when and by which campaign, and whether they opted out.</p>
${hasCampaign ? renderForm(view, 'people', ask) : html`<p class="lead">No campaigns yet, so nothing is known of anyone.</p>`}${found !== undefined && renderPerson(view, shown, found)}`,
    command: `volley people show job.yaml ${quoteWord(number || example)}`,
  });
}

function renderPerson(view: View, { number, said }: PersonShown, { messages, list, campaigns }: Person): Html {
  const rows = messages.map(({ at, job, state, why, scheduled, text }) => [
    formatZoned(Date.parse(at), ownZone()),
    campaigns.has(job) ? html`<a href="/c/${job}/run">${job}</a>` : job,
    `${PERSON_WORDS[state]}${why === null ? '' : `: ${why}`}${scheduled === null ? '' : `; it leaves on ${formatTime(scheduled)}`}`,
    text ?? 'its rows are not there any more',
  ]);
  const titles = ['when', 'campaign', 'what became of it', 'text'];
  const known =
    rows.length === 0
      ? html`<p class="lead">Nothing was sent to ${number}, as far as is known.</p>`
      : html`<p class="lead">${countOf(rows.length, 'message')} to ${number}.</p><div class="fix">${renderTable({ name: 'Messages, the latest first', columns: titles }, rows)}</div>`;
  const waits = messages.some(({ scheduled }) => scheduled !== null);
  const opt = html`${renderHidden('number', number)}<button class="quiet" name="what" value="${list === null ? 'out' : 'in'}">${list === null ? 'Opt out: send them nothing any more' : 'Opt in: they may be written to again'}</button>`;
  const listed =
    list === null
      ? html`<p>They are not on the list of opt-outs. Your other lists, and consent in your files, are looked at when a campaign is checked.</p>`
      : html`<p>They are on the list <b>${basename(list)}</b>: nothing is sent to them, in a run that is under way too.${waits ? ' What the service holds for its time it sends all the same, unless its campaign is taken back before.' : ''}</p>`;
  return html`${said !== undefined && html`<p class="note" role="status">${said}.</p>`}${known}<h2>Opt-out</h2>${listed}${may(view.user, 'author') && renderForm(view, 'people/opt', opt)}`;
}

/** What a user hands to the person who can give the console its account. `faults`: of what stands there now. */
export function renderRequest(directory: string, faults: readonly string[]): Html {
  return html`<p><b>Campaigns cannot be sent for real yet</b>, as this console has no account to send from. The person who set it up, or your IT, adds one once. Send them these lines:</p>
<pre>Please let our Volley console send from our account.
1. In ${directory}, put this into the file service.yaml, with our region and account:
region: asia
account: acme
credentials: { apiKey: { env: VOLLEY_API_KEY } }
2. Where the console is started, set VOLLEY_API_KEY to the key of the account, and start it again.
What is wrong with service.yaml now: ${faults.join('; ')}.</pre>`;
}
