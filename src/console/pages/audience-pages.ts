import { format } from '../../domain/count-of.js';
import { type Html, html, NOTHING } from '../../report/page/html.js';
import { nameTick, type TickableColumn } from '../audience.js';
import { MULTIPART, PEOPLE_FILES, renderField, renderFileField, renderStep } from './forms.js';
import { type PageAnswer, renderPage } from './layout.js';
import { sayPlainly, type View } from './wrong.js';

interface WhoShown {
  readonly columns: readonly TickableColumn[];
  readonly said: string;
  /** Lists of people who get nothing, with what each did, where that is known. */
  readonly lists: readonly string[];
  readonly unasked: readonly string[];
  readonly optOuts: string;
  readonly sharesMemory: boolean;
  readonly warnings: readonly string[];
}

export function whoPage(view: View, shown: WhoShown): PageAnswer {
  const { columns, said, unasked, lists, optOuts, sharesMemory, warnings } = shown;
  const none =
    columns.length === 0
      ? html`<p class="dim">No column of the file has few enough values to tick.</p>`
      : html`<p>Tick values to write only to people who have them. A column without a tick does not count.</p>`;
  const ticks = lists.map(
    (list, index) => html`<label class="tick"><input type="checkbox" name="list-${index}" checked> ${list}</label>`,
  );
  const everywhere = html`<a href="/people">opted out</a> of all campaigns`;
  const listed =
    lists.length === 0 && optOuts === ''
      ? html`<p class="note"><b>No list of people who opted out is used${sharesMemory ? html`, except that of those who ${everywhere}` : NOTHING}. Is that right?</b> People who said STOP elsewhere, or asked you not to write, must be on a list here.</p>`
      : html`<p>The people on these lists get nothing, also when they are in the file:</p><div role="group" aria-label="Lists">${ticks}</div>${optOuts === '' ? NOTHING : html`<p>${optOuts}, for the whole job</p>`}${sharesMemory ? html`<p class="dim">Who ${everywhere} gets nothing either.</p>` : NOTHING}`;
  const form = html`<div id="ticks">${renderUnasked(unasked)}${none}${columns.map((column, index) => renderColumn(view, column, index))}</div>
<p class="lead" role="status" data-counted>${said}</p><p class="dim">Numbers and lists are looked at by the check, which reads every row and says exactly who gets it.</p>
<h2 id="lists">Who gets nothing</h2>${listed}${warnings.map((warning) => html`<p class="note">${sayPlainly(warning)}</p>`)}
${renderFileField(view, 'Add a list', PEOPLE_FILES, 'A file of their numbers: CSV or Excel, up to 60 MB.')}${renderField(view, { id: 'path', label: 'Or a list on this machine', hint: 'Its path, such as /home/anna/stop.csv. It is read where it is, again before each request leaves.' })}`;
  return renderPage(view, {
    title: 'Who',
    body: html`<h1>Who gets it</h1>
${renderStep(view, 'who', form, html`${MULTIPART} data-count`)}`,
    command: 'volley check job.yaml',
  });
}

export function renderUnasked(columns: readonly string[]): Html {
  const named = columns.join(', ');
  return columns.length === 0
    ? NOTHING
    : html`<p class="note"><b>The column ${named} is not used. Is that right?</b> It seems to say who agreed to get messages. People who did not agree get it too.</p>`;
}

/** Open where something of it is ticked, or wrong. */
function renderColumn({ wrong }: View, { column, values }: TickableColumn, at: number): Html {
  const id = `column-${at}`;
  const isOpen = values.some(({ isTicked }) => isTicked) || wrong.some(({ field }) => field === id);
  const ticks = values.map(
    ({ value, rows, isTicked }) =>
      html`<label class="tick"><input type="checkbox" name="${nameTick(column, value)}"${isTicked ? html` checked` : NOTHING}> ${value === '' ? html`<i>blank</i>` : value} <span class="dim">${rows === 0 ? 'not in these rows' : format(rows)}</span></label>`,
  );
  const some = values
    .slice(0, 3)
    .map(({ value }) => value || 'blank')
    .join(', ');
  return html`<details class="column" id="${id}"${isOpen ? html` open` : NOTHING}><summary><b>${column}</b> <span class="dim">${some}${values.length > 3 ? ' …' : ''}</span></summary><div role="group" aria-label="${column}">${ticks}</div></details>
`;
}
