import { basename } from 'node:path';
import type { z } from 'zod';
import { countOf, format } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import { formatZoned, ownZone } from '../../domain/stated-time.js';
import { defaultLimits } from '../../job/limits.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX, type writtenService } from '../../job/schema/service.js';
import type { MessageToPerson } from '../../people/list-person.js';
import { PERSON_WORDS } from '../../people/people-file.js';
import { type Html, html, NOTHING, renderTable } from '../../report/page/html.js';
import { may, type User } from '../team.js';
import { renderField, renderForm, renderHidden } from './forms.js';
import { type PageAnswer, renderItems, renderPage, renderPages } from './layout.js';
import type { View } from './wrong.js';

type CampaignProgress = 'draft' | 'checked' | 'sending' | 'stopped' | 'doubt' | 'unreadable' | 'done';

export interface Entry {
  readonly name: string;
  readonly progress: CampaignProgress;
  readonly said: string;
  /** Of numbers without +; '' where its file has none. */
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

export const LISTED = 50;

/** Group by group, those that were changed last first. */
export function sortEntries<Of extends Entry>(entries: readonly Of[]): Of[] {
  const placeOf = ({ progress }: Entry) => ORDER.indexOf(progress);
  return entries.toSorted((one, other) => placeOf(one) - placeOf(other) || other.atMs - one.atMs);
}

/** `from`: how many are before those that are shown; `total`: how many there are. */
export function homePage(
  view: View,
  { entries, find, from, total }: { entries: readonly Entry[]; find: string; from: number; total: number },
): PageAnswer {
  const groups = GROUPS.map(([title, has]) => {
    const own = entries.filter(({ progress }) => has.includes(progress));
    const items = own.map(({ name, progress, said }) => {
      const at = `/c/${name}${progress === 'doubt' ? '/doubt' : progress === 'checked' ? '/check' : ''}`;
      return html`<a href="${at}">${name}</a> <span class="dim">${said}</span>`;
    });
    return own.length === 0 ? NOTHING : html`<h2>${title}</h2>${renderItems(items)}`;
  });
  const search =
    total === 0 && find === ''
      ? html`<p class="lead">No campaigns yet. Start with a file of people.</p>`
      : html`<form method="get" action="/" role="search"><p class="field"><label for="find">Find by name</label><input id="find" name="find" value="${find}" type="search"> <button class="quiet">Find</button></p></form>`;
  const none =
    find === '' || total > 0
      ? NOTHING
      : html`<p class="lead">No campaign has “${find}” in its name. <a href="/">Show all</a></p>`;
  const place =
    total > LISTED
      ? html`<p class="dim">Campaigns ${format(from + 1)} to ${format(from + entries.length)} of ${format(total)}.</p>`
      : NOTHING;
  const pages = renderPages({ from, shown: entries.length, total, most: LISTED }, find === '' ? {} : { find });
  const create = html`${renderField(view, { id: 'name', label: 'Name of the campaign', hint: 'Such as spring-sale. Its files are in a directory of this name.', attributes: html` maxlength="60" autocomplete="off"` })}<button>Start a campaign</button>`;
  return renderPage(view, {
    title: 'Campaigns',
    body: html`<h1>Campaigns</h1>${search}${none}${place}${groups}${pages}<h2>New campaign</h2>${renderForm(view, 'new', create)}`,
    command: 'volley runs',
  });
}

/** What is known of one person. `campaigns`: those that a message may be of. */
export interface Person {
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

export function personPage(view: View, shown: PersonShown): PageAnswer {
  const { number, found, example, hasCampaign } = shown;
  const ask = html`${renderField(view, { id: 'number', label: 'Number', hint: `As it stands in your files, or with + and its country code, such as ${example}.`, value: number, attributes: html` type="tel" autocomplete="off"` })}<button>Look it up</button>`;
  return renderPage(view, {
    title: 'A person',
    body: html`<h1>One person</h1><p>What a person was sent, when and by which campaign, and whether they opted out.</p>
${hasCampaign ? renderForm(view, 'people', ask) : html`<p class="lead">No campaigns yet, so nothing is known of anyone.</p>`}${found === undefined ? NOTHING : renderPerson(view, shown, found)}`,
    command: `volley people show job.yaml ${quoteWord(number || example)}`,
  });
}

function renderPerson(view: View, { number, said }: PersonShown, { messages, list, campaigns }: Person): Html {
  const rows = messages.map(({ at, job, state, why, text }) => [
    formatZoned(Date.parse(at), ownZone()),
    campaigns.has(job) ? html`<a href="/c/${job}/run">${job}</a>` : job,
    `${PERSON_WORDS[state]}${why === null ? '' : `: ${why}`}`,
    text ?? 'its rows are not there any more',
  ]);
  const titles = ['when', 'campaign', 'what became of it', 'text'];
  const known =
    rows.length === 0
      ? html`<p class="lead">Nothing was sent to ${number}, as far as is known.</p>`
      : html`<p class="lead">${countOf(rows.length, 'message')} to ${number}.</p><div class="fix">${renderTable({ name: 'Messages, the latest first', columns: titles }, rows)}</div>`;
  const opt = html`${renderHidden('number', number)}<button class="quiet" name="what" value="${list === null ? 'out' : 'in'}">${list === null ? 'Opt out: send them nothing any more' : 'Opt in: they may be written to again'}</button>`;
  const listed =
    list === null
      ? html`<p>They are not on the list of opt-outs. Your other lists, and consent in your files, are looked at when a campaign is checked.</p>`
      : html`<p>They are on the list <b>${basename(list)}</b>: nothing is sent to them, in a run that is under way too.</p>`;
  return html`${said === undefined ? NOTHING : html`<p class="note" role="status">${said}.</p>`}${known}<h2>Opt-out</h2>${listed}${may(view.user, 'author') ? renderForm(view, 'people/opt', opt) : NOTHING}`;
}

interface SettingsShown {
  readonly directory: string;
  /** Of service.yaml; undefined where it is wrong. */
  readonly service: z.output<typeof writtenService> | undefined;
  readonly faults: readonly string[];
  readonly keys: readonly (readonly [what: string, said: string])[];
  /** Undefined where one person uses the console. */
  readonly users: readonly User[] | undefined;
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

export function settingsPage(view: View, shown: SettingsShown): PageAnswer {
  const { directory, service, faults, keys, users } = shown;
  const { requestsPerSecond, messagesPerSecond, concurrency } = defaultLimits.sms;
  const { account = '', region = '', bases = {} } = service ?? {};
  const rows = [
    ['account', account],
    ['region', region],
    ['subaccount', service?.subAccountId ?? `${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`],
    ...Object.entries(bases).flatMap(([area, base]) => (base === undefined ? [] : [[`address of ${area}`, base]])),
    ...keys,
  ];
  const people = users?.map(({ name, role }) => [name, role]);
  return renderPage(view, {
    title: 'Settings',
    body: html`<h1>Settings</h1><p>They are read here; the person who keeps this console changes them, in <code>${directory}</code>.</p>
<h2>The account of live campaigns</h2>${faults.length > 0 ? renderRequest(directory, faults) : html`<p>A live copy of a campaign is sent from it.</p>${renderTable({ name: 'Account', columns: ['what', 'is'] }, rows)}`}
<h2>Prices and limits</h2><p>${requestsPerSecond} requests and ${format(messagesPerSecond ?? 0)} messages a second at most, ${concurrency} at once. The person who keeps this console can give a campaign other limits, and prices, so that its check says what it costs.</p>
<h2>Users</h2>${people === undefined ? html`<p>You alone, by a link. The person who keeps this console begins a team with <code>volley console --users users.csv --add Anna --role author</code></p>` : html`${renderTable({ name: 'Users', columns: ['name', 'role'] }, people)}<p>The person who keeps this console adds others: <code>volley console --users users.csv --add Anna --role author</code></p>`}`,
    command: 'volley check job.yaml --online',
  });
}
