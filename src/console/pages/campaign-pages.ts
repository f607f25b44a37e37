import { basename } from 'node:path';
import { countOf, format } from '../../domain/count-of.js';
import { quoteWord } from '../../domain/errors.js';
import { formatZoned, ownZone } from '../../domain/stated-time.js';
import { warnOfLandlines } from '../../guess/describe-guess.js';
import type { NumberGuess } from '../../guess/guess-number.js';
import { nameCountry } from '../../normalize/country.js';
import { type Html, html, NOTHING, renderTable } from '../../report/page/html.js';
import type { CampaignFolder, CampaignJob, Deed } from '../campaign.js';
import {
  MULTIPART,
  PEOPLE_FILES,
  renderField,
  renderFileField,
  renderForm,
  renderSelect,
  renderStep,
} from './forms.js';
import { type PageAnswer, renderItems, renderPage, renderPhone } from './layout.js';
import { markWrong, renderFault, sayPlainly, type View } from './wrong.js';

export interface Task {
  readonly title: string;
  readonly state: string;
  /** Undefined until what must be done before is done. */
  readonly path?: string | undefined;
}

interface TasksShown {
  readonly job: CampaignJob | undefined;
  readonly tasks: readonly Task[];
  readonly history: readonly Deed[];
  /** What is to be asked for before it can be sent for real. */
  readonly request: Html;
}

const LAST_DEEDS = 5;

export function taskPage(view: View, { job, tasks, history, request }: TasksShown): PageAnswer {
  const name = view.campaign?.name ?? '';
  const lines = history.map(
    ({ at, by, did }) => html`${formatZoned(Date.parse(at), ownZone())}: ${`${by} ${did}`.trim()}`,
  );
  const [last, before] = [lines.slice(0, LAST_DEEDS), lines.slice(LAST_DEEDS)];
  const older = html`<details><summary>${countOf(before.length, 'entry', 'entries')} before</summary>${renderItems(before)}</details>`;
  const deeds = html`<h2>History</h2>${renderItems(last)}${before.length === 0 ? NOTHING : older}`;
  const items = tasks.map(
    ({ title, path, state }) =>
      html`${path === undefined ? html`<span>${title}</span>` : html`<a href="${view.at}/${path}">${title}</a>`}<span class="state">${state}</span>`,
  );
  const live =
    job?.isSandbox === true
      ? html`<h2 id="live">Send it for real</h2>${request}<p>This campaign stays on the sandbox. A live copy has the same people, text and times, is sent from your account, and is checked anew.</p>${renderForm(view, 'live', html`<button class="quiet">Make a live copy</button>`)}`
      : NOTHING;
  return renderPage(view, {
    title: name,
    body: html`<h1>${name}</h1>${renderItems(items, true)}${live}${lines.length === 0 ? NOTHING : deeds}`,
    command: 'volley status job.yaml',
  });
}

export function filePage(view: View, { file }: CampaignFolder): PageAnswer {
  const chosen =
    file === undefined
      ? NOTHING
      : html`<p>Chosen: <b>${basename(file)}</b>. <a href="${view.at}/columns">Go on to its columns</a>, or choose another.</p>`;
  const upload = html`${renderFileField(view, 'Choose a file', PEOPLE_FILES)}<p class="live" role="status" data-upload></p><button>Upload</button>`;
  const hint = 'Such as /home/anna/people.csv. It is read where it is.';
  const path = renderField(view, { id: 'path', label: 'Its path', hint });
  return renderPage(view, {
    title: 'File',
    body: html`<h1>The file of people</h1>
<p>CSV or Excel, as your tool exports it: one row a person, with a column of phone numbers.</p>${chosen}
${renderForm(view, 'file', upload, html`${MULTIPART} data-slices="${view.at}/slices"`)}
<h2>Or a file on this machine</h2>
${renderForm(view, 'file', html`${path}<button class="quiet">Use this file</button>`)}`,
    command: 'volley init people.csv',
  });
}

export function sheetPage(view: View, { file = '', sheet }: CampaignFolder, sheets: readonly string[]): PageAnswer {
  return renderPage(view, {
    title: 'Columns',
    body: html`<h1>Which sheet has the people?</h1><p>${basename(file)} has ${countOf(sheets.length, 'sheet')}.</p>
${renderForm(view, 'columns', html`${renderSheets(view, sheets, sheet)}<button>Go on</button>`)}`,
    command: 'volley init people.xlsx --sheet Customers',
  });
}

function renderSheets(view: View, sheets: readonly string[], chosen: string | undefined): Html {
  return renderSelect(
    view,
    { id: 'sheet', label: 'Sheet' },
    sheets.map((sheet) => [sheet]),
    chosen,
  );
}

export interface ColumnsShown {
  readonly sheets?: readonly string[];
  readonly columns: readonly string[];
  /** Cells of each column, as they stand in the first rows. */
  readonly samples: readonly (readonly string[])[];
  readonly rows: number;
  /** Columns that may hold the numbers: the chosen one, or the best, first. */
  readonly numbers: readonly NumberGuess[];
  /** Cells of the chosen one that have anything. */
  readonly filled: number;
  readonly chosen: string;
  readonly country: string;
}

const MOST_COLUMNS = 40;
const MOST_SAMPLE = 60;

/** For a terminal: what the page shows as chosen. */
function commandOf(chosen: string, country: string): string {
  const flags = [
    ['--destination', chosen],
    ['--country', country],
  ].filter(([, value]) => value !== '');
  return ['volley init people.csv', ...flags.flat().map(quoteWord)].join(' ');
}

export function columnsPage(view: View, { file = '', sheet }: CampaignFolder, shown: ColumnsShown): PageAnswer {
  const { sheets = [], columns, samples, chosen, country } = shown;
  const said = describeNumbers(shown);
  const doubt = findDoubt(shown) ?? '';
  const isAsked = view.wrong.some(({ message }) => message === doubt);
  const sure = isAsked
    ? html` <button class="quiet" name="sure" value="${doubt}">Save it all the same</button>`
    : NOTHING;
  const none = chosen === '' ? ([['', 'Choose a column']] as const) : [];
  const options = [...none, ...columns.map((column) => [column] as const)];
  const first = columns
    .slice(0, MOST_COLUMNS)
    .map((column, at) => [column, (samples[at] ?? []).map((cell) => cell.slice(0, MOST_SAMPLE)).join(' · ')]);
  const table = renderTable({ name: 'The first rows of each column', columns: ['column', 'first rows'] }, first);
  const form = html`${sheets.length > 1 && sheet !== undefined ? renderSheets(view, sheets, sheet) : NOTHING}${renderSelect(view, { id: 'destination', label: 'Phone numbers' }, options, chosen)}${renderField(view, { id: 'country', label: 'Country of numbers without +', hint: 'Such as Singapore, or SG. Leave it empty where all numbers begin with +, or a column says the country of each.', value: country, attributes: html` maxlength="60"` })}<p class="lead" role="status" data-counted>${said}</p><button>Save and go on</button> <button class="quiet" name="count" value="1">Count again</button>${sure}`;
  const page = renderPage(view, {
    title: 'Columns',
    body: html`<h1>Which column has the phone numbers?</h1>
${renderForm(view, 'columns', form, html` data-count`)}
<h2>What is in ${basename(file)}</h2>${table}${columns.length > MOST_COLUMNS ? html`<p class="dim">The first ${MOST_COLUMNS} of ${columns.length} columns.</p>` : NOTHING}`,
    command: commandOf(chosen, country),
  });
  return { ...page, json: { said } };
}

/** What speaks for a column. */
function describeNumbers({ numbers: [best, ...others], rows }: ColumnsShown): string {
  if (best === undefined) return 'No column looks like one of phone numbers.';
  const read = [
    ...(best.countryColumn === undefined ? [] : [`of the country in ${best.countryColumn}`]),
    ...(best.country === undefined ? [] : [`as numbers of ${nameCountry(best.country)}`]),
  ].join(', else ');
  const those = read === '' ? '' : `, those without + ${read}`;
  const next = others.map(({ column, valid }) => `${column}, ${format(valid)}`).join('; ');
  return `${best.column} has a valid number in ${format(best.valid)} of ${countOf(rows, 'row')}${those}${warnOfLandlines(best.notMobile)}.${next === '' ? '' : ` Next: ${next}.`}`;
}

/** What is asked where most numbers of the chosen column would fail; undefined where most are valid. */
export function findDoubt({ numbers: [own], chosen, filled }: ColumnsShown): string | undefined {
  if (own === undefined || chosen === '' || own.valid * 2 >= filled) return undefined;
  const only = `${own.valid === 0 ? 'None' : `Only ${format(own.valid)}`} of ${countOf(filled, 'number')} ${own.valid < 2 ? 'is' : 'are'} valid`;
  if (own.countryColumn !== undefined) return `${only} in the countries of ${own.countryColumn}. Is the column right?`;
  if (own.country === undefined) return `${only} as they stand. Which country are those without + of?`;
  if (own.lostPlus * 2 >= filled)
    return `${only} in ${nameCountry(own.country)}: ${format(own.lostPlus)} lost their +. Once they are checked, it can be put back in all of them.`;
  return `${only} in ${nameCountry(own.country)}. Is the country right?`;
}

/** A row as `volley preview` prints it. */
export interface PreviewRow {
  readonly line: number;
  readonly reason: string | null;
  readonly sms: {
    readonly to: string;
    readonly text: string;
    readonly parts: number;
    readonly units: number;
    readonly ucs2: readonly { readonly character: string; readonly at: number }[];
  } | null;
}

function renderPreview({ line, reason, sms }: PreviewRow): Html {
  if (sms === null) return renderPhone(`Line ${line}`, html`<p>Gets no message: ${sayPlainly(reason ?? '')}</p>`);
  const [first] = sms.ucs2;
  const because =
    first === undefined ? '' : `, shorter ones because of ${first.character.split(' ')[0]}, position ${first.at}`;
  const said = `line ${line} · ${countOf(sms.units, 'character')} · ${countOf(sms.parts, 'part')}${because}`;
  return renderPhone(sms.to, html`<blockquote>${sms.text}</blockquote>`, html`<p class="dim">${said}</p>`);
}

interface MessageShown {
  readonly columns: readonly string[];
  readonly rows: readonly PreviewRow[];
  readonly written: { readonly sender: string; readonly message: string };
  /** Which rows: the first, unless it is said. */
  readonly shown: string;
}

export function messagePage(view: View, { columns, rows, written, shown }: MessageShown): PageAnswer {
  const inserts = columns
    .slice(0, MOST_COLUMNS)
    .map(
      (column) => html`<button type="button" class="quiet" data-insert="${variableOf(column)}">+ ${column}</button> `,
    );
  const choices = Object.entries({ '': 'the first', longest: 'the longest', random: 'any' }).map(([choice, title]) =>
    choice === shown ? html`<b>${title}</b> ` : html`<a href="?show=${choice}#messages">${title}</a> `,
  );
  const form = html`${renderField(view, { id: 'sender', label: 'From', hint: 'What the phone shows as sender: 11 letters or digits at most.', value: written.sender, attributes: html` maxlength="32" placeholder="Your company"` })}
<p class="field"><label for="message">Text</label><span class="hint" id="message-hint">A column in two braces is filled in for each person, such as {{ name | default: 'there' }}.</span>${renderFault(view, 'message')}<textarea id="message" name="message" rows="5" placeholder="Hi {{ name | default: 'there' }}, our sale begins on Friday. Reply STOP to opt out."${markWrong(view, 'message', 'message-hint')}>${html`
`}${written.message}</textarea></p>
<p class="inserts" hidden data-script>Insert: ${inserts}</p>`;
  return renderPage(view, {
    title: 'Message',
    body: html`<h1>The message</h1>
${renderStep(view, 'message', form)}
<h2 id="messages">As people get it</h2>${written.message === '' ? html`<p>Write it, and it is shown here with the rows of your file.</p>` : html`<p>Rows: ${choices}</p>`}${rows.map(renderPreview)}`,
    command: 'volley preview job.yaml --longest',
  });
}

/** As a text names a column: `{{ first_name }}`, or in brackets where it is written otherwise. */
function variableOf(column: string): string {
  return /^[a-z][a-z0-9_]*$/i.test(column) ? `{{ ${column} }}` : `{{ ["${column.replaceAll('"', '')}"] }}`;
}

/** A job that was written by hand: it is shown, and changed where it was written. */
export function handWrittenPage(view: View, { job }: CampaignFolder): PageAnswer {
  return renderPage(view, {
    title: 'Written by hand',
    body: html`<h1>This campaign is changed by hand</h1><p>It has what these pages do not show: ${job?.unknown.join(', ') ?? ''}. It can be checked and sent here; who wrote it changes it, in its file.</p><pre>${job?.text ?? ''}</pre>`,
  });
}
