import { basename } from 'node:path';
import { countOf, format } from '../../domain/count-of.js';
import type { NumberGuess } from '../../guess/guess-number.js';
import { html, NOTHING, renderTable } from '../../report/page/html.js';
import type { CampaignFolder } from '../campaign.js';
import { renderField, renderForm, renderPage, type View, type Wrong } from './layout.js';

/** How far a campaign is. */
export type CampaignProgress = 'draft' | 'checked' | 'sending' | 'stopped' | 'doubt' | 'done';

export interface Entry {
  readonly name: string;
  readonly progress: CampaignProgress;
  /** In a few words. */
  readonly said: string;
}

const GROUPS: readonly [title: string, has: readonly CampaignProgress[]][] = [
  ['Needs you', ['doubt', 'stopped', 'checked']],
  ['Sending', ['sending']],
  ['Drafts', ['draft']],
  ['Done', ['done']],
];

export function homePage(view: View, entries: readonly Entry[], wrong: readonly Wrong[] = []): string {
  const groups = GROUPS.map(([title, has]) => {
    const own = has.flatMap((each) => entries.filter(({ progress }) => progress === each));
    if (own.length === 0) return NOTHING;
    const items = own.map(
      ({
        name,
        progress,
        said,
      }) => html`<li><a href="/c/${name}${progress === 'doubt' ? '/doubt' : ''}">${name}</a> <span class="dim">${said}</span></li>
`,
    );
    return html`<h2>${title}</h2><ul class="list">${items}</ul>`;
  });
  const none =
    entries.length === 0 ? html`<p class="lead">No campaigns yet. Start with a file of people.</p>` : NOTHING;
  const create = html`${renderField({ id: 'name', label: 'Name of the campaign', hint: 'Such as spring-sale. Its files are in a directory of this name.', value: '', attributes: html` maxlength="60" autocomplete="off"` })}<button>Start a campaign</button>`;
  return renderPage(view, {
    title: 'Campaigns',
    wrong,
    body: html`<h1>Campaigns</h1>${none}${groups}<h2>New campaign</h2>${renderForm(view, '/new', create)}`,
    command: 'volley runs',
  });
}

export interface Task {
  readonly title: string;
  readonly path: string;
  readonly state: 'Completed' | 'Not started' | string;
  /** What must be done before; it is no link until then. */
  readonly isOpen: boolean;
}

export function taskPage(
  view: View,
  { name, job }: CampaignFolder,
  tasks: readonly Task[],
  wrong: readonly Wrong[] = [],
): string {
  const items = tasks.map(
    ({ title, path, state, isOpen }) =>
      html`<li>${isOpen ? html`<a href="/c/${name}/${path}">${title}</a>` : html`<span>${title}</span>`}<span class="state">${state}</span></li>
`,
  );
  const live =
    job?.isSandbox === true
      ? html`<h2>Send it for real</h2><p>This campaign stays on the sandbox. A live copy has the same people, text and times, is sent from your account, and is checked anew.</p>${renderForm(view, `/c/${name}/live`, html`<button class="quiet">Make a live copy</button>`)}`
      : NOTHING;
  return renderPage(view, { title: name, wrong, body: html`<h1>${name}</h1><ol class="tasks">${items}</ol>${live}` });
}

export function filePage(
  view: View,
  { name, file }: CampaignFolder,
  uploaded: readonly string[],
  wrong: readonly Wrong[] = [],
): string {
  const at = `/c/${name}`;
  const chosen =
    file === undefined
      ? NOTHING
      : html`<p>Chosen: <b>${basename(file)}</b>. <a href="${at}/columns">Go on to its columns</a>, or choose another.</p>`;
  const before = uploaded.map((each) =>
    renderForm(
      view,
      `${at}/file`,
      html`<input type="hidden" name="name" value="${each}"><button class="quiet">Use ${each}</button>`,
    ),
  );
  return renderPage(view, {
    title: 'File',
    wrong,
    body: html`<h1>The file of people</h1>
<p>CSV, Excel or NDJSON, as your tool exports it: one row a person, with a column of phone numbers.</p>${chosen}
${renderForm(view, `${at}/upload`, html`<p class="field"><label for="file">Choose a file</label><input type="file" id="file" name="file" accept=".csv,.tsv,.txt,.ndjson,.jsonl,.xlsx,.xlsm,.gz"></p><p class="live" role="status" data-upload></p><button>Upload</button>`, html` enctype="multipart/form-data" data-slices="${at}/slices"`)}
${before.length === 0 ? NOTHING : html`<h2>Files of this campaign</h2>${before}`}
<h2>Or a file on this machine</h2>
${renderForm(view, `${at}/file`, html`${renderField({ id: 'path', label: 'Its path', hint: 'Such as /home/anna/people.csv. It is read where it is.', value: '' })}<button class="quiet">Use this file</button>`)}`,
    command: 'volley init people.csv',
  });
}

export interface ColumnsShown {
  readonly columns: readonly string[];
  /** Cells of each column, as they stand in the first rows. */
  readonly samples: readonly (readonly string[])[];
  readonly rows: number;
  /** Columns that may hold the numbers, the best first. */
  readonly numbers: readonly NumberGuess[];
  readonly chosen: string;
  readonly country: string;
}

const MOST_COLUMNS = 40;
const MOST_SAMPLE = 60;

export function columnsPage(
  view: View,
  { name, file = '' }: CampaignFolder,
  shown: ColumnsShown,
  wrong: readonly Wrong[] = [],
): string {
  const { columns, samples, rows, numbers, chosen, country } = shown;
  const evidence = numbers.map(
    ({
      column,
      valid,
    }) => html`<p><b>${column}</b> has a valid number in ${format(valid)} of ${countOf(rows, 'row')}.</p>
`,
  );
  const options = [
    ...(chosen === '' ? [html`<option value="">Choose a column</option>`] : []),
    ...columns.map(
      (each) => html`<option value="${each}"${each === chosen ? html` selected` : NOTHING}>${each}</option>`,
    ),
  ];
  const table = renderTable(
    { name: 'The first rows of each column', columns: ['column', 'first rows'] },
    columns
      .slice(0, MOST_COLUMNS)
      .map((column, at) => [column, (samples[at] ?? []).map((cell) => cell.slice(0, MOST_SAMPLE)).join(' · ')]),
  );
  const more =
    columns.length > MOST_COLUMNS
      ? html`<p class="dim">And ${countOf(columns.length - MOST_COLUMNS, 'column')} more.</p>`
      : NOTHING;
  return renderPage(view, {
    title: 'Columns',
    wrong,
    body: html`<h1>Which column has the phone numbers?</h1>
<p>In the first ${countOf(rows, 'row')} of ${basename(file)}:</p>${evidence}
${renderForm(
  view,
  `/c/${name}/columns`,
  html`<p class="field"><label for="destination">Phone numbers</label><select id="destination" name="destination">${options}</select></p>
${renderField({ id: 'country', label: 'Country of numbers without +', hint: 'Two letters, such as SG. Leave it empty where all numbers begin with +.', value: country, attributes: html` maxlength="2" size="4" autocapitalize="characters"` })}<button>Save and go on</button>`,
)}
<h2>What is in the file</h2>${table}${more}`,
    command: 'volley init people.csv --destination mobile --country SG',
  });
}

/** A message as a person gets it, or why a row gets none. */
export interface Bubble {
  readonly to: string;
  readonly text: string;
  readonly said: string;
  readonly isMessage: boolean;
}

export function messagePage(
  view: View,
  { name, job }: CampaignFolder,
  {
    columns,
    bubbles,
    written,
    shown,
  }: {
    columns: readonly string[];
    bubbles: readonly Bubble[];
    written: { sender: string; message: string };
    shown: string;
  },
  wrong: readonly Wrong[] = [],
): string {
  const inserts = columns
    .slice(0, MOST_COLUMNS)
    .map(
      (column) => html`<button type="button" class="quiet" data-insert="${variableOf(column)}">+ ${column}</button> `,
    );
  const bad = (field: string) => wrong.some((each) => each.field === field);
  const choices = [
    ['', 'the first'],
    ['longest', 'the longest'],
    ['random', 'any'],
  ].map(([choice = '', title = '']) =>
    choice === shown ? html`<b>${title}</b> ` : html`<a href="?show=${choice}#messages">${title}</a> `,
  );
  const cards = bubbles.map(
    ({
      to,
      text,
      said,
      isMessage,
    }) => html`<figure class="phone"><figcaption>${to}</figcaption>${isMessage ? html`<blockquote>${text}</blockquote>` : html`<p>Gets no message: ${text}</p>`}<p class="dim">${said}</p></figure>
`,
  );
  return renderPage(view, {
    title: 'Message',
    wrong,
    body: html`<h1>The message</h1>
${renderForm(
  view,
  `/c/${name}/message`,
  html`<input type="hidden" name="sha256" value="${job?.sha256 ?? ''}">
${renderField({ id: 'sender', label: 'From', hint: 'What the phone shows as sender: 11 letters or digits at most.', value: written.sender, attributes: html` maxlength="32"` })}
<p class="field"><label for="message">Text</label><span class="hint" id="message-hint">A column in two braces is filled in for each person, such as {{ name | default: 'there' }}.</span><textarea id="message" name="message" rows="5" aria-describedby="message-hint"${bad('message') ? html` aria-invalid="true"` : NOTHING}>${html`
`}${written.message}</textarea></p>
<p class="inserts" hidden data-script>Insert: ${inserts}</p><button>Save and show it</button> <a class="next" href="/c/${name}/who">Go on to who gets it</a>`,
)}
<h2 id="messages">As people get it</h2><p>Rows: ${choices}</p>${cards}`,
    command: 'volley preview job.yaml --longest',
  });
}

/** As a text names a column: `{{ first_name }}`, or in brackets where it is written otherwise. */
function variableOf(column: string): string {
  return /^[a-z][a-z0-9_]*$/i.test(column) ? `{{ ${column} }}` : `{{ ["${column.replaceAll('"', '')}"] }}`;
}

/** A job that was written by hand: it is shown, and changed where it was written. */
export function handWrittenPage(view: View, { job }: CampaignFolder): string {
  return renderPage(view, {
    title: 'Written by hand',
    body: html`<h1>This job is changed in its file</h1><p>It has what these pages do not show: ${job?.unknown.join(', ') ?? ''}. It can be checked and sent here; to change it, edit its file.</p><pre>${job?.text ?? ''}</pre>`,
  });
}
