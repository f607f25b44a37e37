import { cellsOf } from '../../domain/bytes/row-writer.js';
import { TextBuffer } from '../../domain/bytes/text-buffer.js';
import { addCounts, countOf, format } from '../../domain/count-of.js';
import { undefinedOnUserError } from '../../domain/errors.js';
import type { SampledRows } from '../../guess/sampled-columns.js';
import { Columns } from '../../normalize/columns.js';
import { type Html, html } from '../../report/page/html.js';
import { showVariable } from '../../template/missing.js';
import { parseTemplate } from '../../template/parse.js';
import { jobFileOf } from '../campaign.js';
import { MOST_COLUMNS, readColumns } from './columns-desk.js';
import { Desk, fieldText, type JobRequest, PATIENCE_MS, textOfForm, viewOf } from './desk.js';
import { type PageAnswer, renderField, renderPage, renderPhone, renderStep, waitPage } from './layout.js';
import { conflictOf, markWrong, renderFault, sayPlainly, type View, type Wrong, wrongOf } from './wrong.js';

const SHOWN_ROWS = 3;

/** What a campaign says: it writes the text and the sender, and shows what `volley preview` makes of them. */
export class MessageDesk extends Desk {
  async showMessage(asked: JobRequest, wrong: readonly Wrong[] = []): Promise<PageAnswer> {
    const { campaign, job, fields } = asked;
    const shown = fields.show === 'longest' || fields.show === 'random' ? fields.show : '';
    const seed = fieldText(asked, 'seed');
    if (shown === 'random' && seed === '')
      return { to: `/c/${asked.name}/message?show=random&seed=${this.context.env.random()}#messages` };
    const choice = shown === 'longest' ? ['--longest'] : shown === 'random' ? [`--random=${seed}`] : [];
    const args = ['preview', jobFileOf(campaign), '--count', `${SHOWN_ROWS}`, '--show-numbers', ...choice];
    // The page is asked for again with the same choice: so it finds what was begun.
    const look = () => this.run(asked, ...args);
    const file = await this.files.stat(campaign.file ?? '');
    const key = JSON.stringify([job.sha256, choice, file?.bytes, file?.modifiedMs]);
    const isShort = choice.length === 0;
    const printed =
      job.message === ''
        ? undefined
        : await (isShort
            ? this.runHere(asked, ...args)
            : this.soon(asked.name, { key, waitMs: PATIENCE_MS, isKept: true }, look));
    if (printed === undefined && job.message !== '')
      return waitPage(viewOf(asked), 'preview', `?${new URLSearchParams({ show: shown, seed }).toString()}`);
    const rows = printed?.exitCode === 0 ? (printed.rows as readonly PreviewRow[]) : [];
    // The preview says why a file cannot be read.
    const read =
      campaign.file === undefined ? undefined : await readColumns(campaign, this.files).catch(undefinedOnUserError);
    const { sender = job.sender, message = job.message } = fields;
    const written = { sender: String(sender), message: String(message) };
    const faults = wrong.length > 0 ? wrong : wrongOf(printed, 'message');
    const view = viewOf(
      asked,
      faults.map((each) => (each.key?.endsWith('source') ? { ...each, field: 'sender' } : each)),
    );
    const blanks = read === undefined || printed?.exitCode !== 0 ? [] : listBlanks(job.message, read.sample);
    return messagePage(view, { columns: read?.columns ?? [], rows, blanks, written, shown });
  }

  async writeMessage(asked: JobRequest): Promise<PageAnswer> {
    const { job } = asked;
    const [sender = '', message = ''] = [asked.fields.sender, asked.fields.message].map(textOfForm);
    const missing = [
      ...(sender.trim() ? [] : [{ message: 'Say whom it is from', field: 'sender' }]),
      ...(message.trim() ? [] : [{ message: 'Write the message', field: 'message' }]),
    ];
    if (missing.length > 0) return this.showMessage(asked, missing);
    const isSaved = await this.edit(asked, 'wrote the message', (document) => {
      document.setIn(['steps', 0, 'template', 'source'], sender);
      document.setIn(['steps', 0, 'template', 'text'], message);
    });
    if (!isSaved) return this.showMessage(asked, [conflictOf('The campaign', `says: “${job.message}”`, 'message')]);
    const isNext =
      asked.fields.next !== undefined &&
      (await this.showMessage({ ...asked, job: { ...job, message } })).status !== 422;
    return { to: `/c/${asked.name}/${isNext ? 'who' : 'message#messages'}` };
  }
}

/** A row as `volley preview` prints it. */
interface PreviewRow {
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

/** Whom the text leaves out, as a cell that it needs is blank: of the first rows, by what it needs. */
function listBlanks(message: string, { columns, rows }: SampledRows): Html[] {
  const text = parseTemplate(message).bind(new Columns(columns));
  const json = new TextBuffer();
  const faults = rows.flatMap((row) => {
    const rendering = text.render(cellsOf(row), json);
    json.endAt(0);
    return rendering.ok ? [] : [rendering, ...rendering.others];
  });
  const counts = addCounts(faults.map(({ variable, code }) => (code === 'missing-value' ? { [variable]: 1 } : {})));
  return Object.entries(counts).map(([variable, count]) => {
    const filled = showVariable(variable).replace(' }}', " | default: 'there' }}");
    const so = `${format(count)} of the first ${countOf(rows.length, 'row')} ${count === 1 ? 'has' : 'have'} nothing for ${showVariable(variable)}`;
    return html`<p class="note"><b>${so}.</b> Such rows get no message, unless the text has other words for them: <code>${filled}</code></p>`;
  });
}

interface MessageShown {
  readonly columns: readonly string[];
  readonly rows: readonly PreviewRow[];
  readonly blanks: readonly Html[];
  readonly written: { readonly sender: string; readonly message: string };
  /** Which rows: the first, unless it is said. */
  readonly shown: string;
}

function messagePage(view: View, { columns, rows, blanks, written, shown }: MessageShown): PageAnswer {
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
<h2 id="messages">As people get it</h2>${written.message === '' ? html`<p>Write it, and it is shown here with the rows of your file.</p>` : html`${blanks}<p>Rows: ${choices}</p>`}${rows.map(renderPreview)}`,
    command: 'volley preview job.yaml --longest',
  });
}

/** Writes a column as a text names it: `{{ first_name }}`, or in brackets where its name needs them. */
function variableOf(column: string): string {
  return /^[a-z][a-z0-9_]*$/i.test(column) ? `{{ ${column} }}` : `{{ ["${column.replaceAll('"', '')}"] }}`;
}
