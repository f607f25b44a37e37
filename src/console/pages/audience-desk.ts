import { basename, join, resolve } from 'node:path';
import { format } from '../../domain/count-of.js';
import { undefinedOnUserError } from '../../domain/errors.js';
import { joinSamples, type SampledRows } from '../../guess/sampled-columns.js';
import { guessFileEncoding, readHeads } from '../../input/read-records.js';
import type { SuppressionInput } from '../../plan/format/plan-file.js';
import { describeList, warnOfList } from '../../report/account.js';
import { type Html, html, NOTHING } from '../../report/page/html.js';
import type { Files } from '../../storage/files.js';
import {
  describeAudience,
  describeWho,
  findMixed,
  findUnasked,
  listTickable,
  nameTick,
  readTicks,
  type TickableColumn,
  type Ticked,
  toWrittenWhere,
} from '../audience.js';
import { type CampaignJob, listLists, setLists } from '../campaign.js';
import type { Printed } from '../commands.js';
import { findFree, writePieces } from '../uploads.js';
import { Desk, fieldText, type JobRequest, viewOf } from './desk.js';
import {
  MULTIPART,
  type PageAnswer,
  PEOPLE_FILES,
  renderField,
  renderFileField,
  renderPage,
  renderStep,
} from './layout.js';
import { conflictOf, sayPlainly, type View, type Wrong, wrongOf } from './wrong.js';

/** Who gets a campaign: it writes `where` and `suppress` of the job, and shows what `volley check` says of them. */
export class AudienceDesk extends Desk {
  async showWho(asked: JobRequest, wrong: readonly Wrong[] = [], ticks?: readonly Ticked[]): Promise<PageAnswer> {
    const { campaign, job } = asked;
    const ticked = ticks ?? job.ticked;
    // The check says why a file cannot be read.
    const [sample = joinSamples([]), printed] = await Promise.all([
      readSample(asked, this.files).catch(undefinedOnUserError),
      this.checkJob(asked),
    ]);
    const columns = listTickable(sample, ticked, job.destination);
    const placed = wrong.map((each) => {
      const at = columns.findIndex(({ column }) => column === each.field);
      return at === -1 ? each : { ...each, field: `column-${at}` };
    });
    return whoPage(viewOf(asked, [...placed, ...listAudienceFaults(printed)]), job, {
      columns,
      said: describeAudience(sample, ticked),
      unasked: findUnasked(sample, ticked),
      ...describeLists(campaign.directory, job, printed),
    });
  }

  /** What is ticked, and the lists: one that was uploaded or lies on this machine comes on, one that is not ticked any more is taken off. */
  async write(asked: JobRequest): Promise<PageAnswer> {
    const { job, fields } = asked;
    const ticked = readTicks(fields);
    const mixed = findMixed(ticked);
    const odd = mixed && `In ${mixed.column}, tick blank alone, or values alone`;
    // While values are ticked.
    if (fields.count !== undefined)
      return { json: { said: odd ?? describeAudience(await readSample(asked, this.files), ticked) } };
    if (mixed && odd) return this.showWho(asked, [{ message: odd, field: mixed.column }], ticked);
    const conflict = conflictOf('The campaign', `goes to: ${describeWho(job)}`);
    if (fields.sha256 !== job.sha256) return this.showWho(asked, [conflict], ticked);
    const added = await this.#takeList(asked);
    if (added !== undefined && 'message' in added) return this.showWho(asked, [added], ticked);
    const isSaved = await this.edit(asked, 'changed who gets it', (document) => {
      const where = ['steps', 0, 'input', 'where'];
      if (ticked.length === 0) document.deleteIn(where);
      else document.setIn(where, document.createNode(toWrittenWhere(ticked)));
      const kept = listLists(document).filter((_, index) => fields[`list-${index}`] !== undefined);
      setLists(document, [...kept, ...(added === undefined ? [] : [document.createNode(added)])]);
    });
    if (!isSaved) return this.showWho(asked, [conflict], ticked);
    const isFaulty = listAudienceFaults(await this.checkJob(asked)).length > 0;
    return { to: `/c/${asked.name}/${isFaulty || fields.next === undefined ? 'who' : 'when'}` };
  }

  /** Takes the list that was uploaded, as `suppress` names it; undefined where none was. */
  async #takeList(asked: JobRequest): Promise<{ files: string; encoding?: string } | Wrong | undefined> {
    const { campaign, file } = asked;
    if (file !== undefined && file.name === undefined)
      return { message: 'Choose a list that is a CSV or Excel file, such as stop.csv', field: 'file' };
    const own = file?.name && (await findFree(this.files, join(campaign.directory, 'lists', file.name)));
    const path = own ?? fieldText(asked, 'path');
    if (path === '') return undefined;
    if (file !== undefined) await writePieces(this.files, path, [file.bytes]);
    const fault = await this.refusePath(asked, path);
    if (fault !== undefined) return { message: fault, field: 'path' };
    const encoding = await guessFileEncoding({ path, shown: basename(path) });
    const files = own === undefined ? path : `lists/${basename(own)}`;
    return { files, ...(encoding === undefined ? {} : { encoding }) };
  }
}

const CORRECTED = /^files\/(?:fixed|corrected)-/;

export async function readSample({ campaign, job }: JobRequest, files: Files): Promise<SampledRows> {
  const { directory } = campaign;
  // Rows that were corrected are some of those of its other files.
  const own = job.files.filter((path) => !CORRECTED.test(path));
  const paths = own.map((path) => resolve(directory, path));
  const stated = { encoding: undefined, sheet: job.sheet };
  const heads = await readHeads(paths, { jobDirectory: directory, disk: files, stated });
  return joinSamples(heads.files);
}

/** What is wrong with files, conditions and lists; of the text its own page says it. */
function listAudienceFaults(printed: Printed): Wrong[] {
  const wrong = wrongOf(printed, 'lists', ({ key }) => key === null || /\b(?:input|suppress|optOuts)\b/.test(key));
  return wrong.map((each) => (each.key?.includes('input') ? { ...each, field: 'ticks' } : each));
}

/** Describes lists by what each did among the first rows, or by their names alone where the job cannot be checked. */
function describeLists(directory: string, { lists }: CampaignJob, { steps = [] }: Printed) {
  const [{ suppression = [] } = {}] = steps as readonly { readonly suppression?: readonly SuppressionInput[] }[];
  const described = lists.map((list) => {
    const paths = list.split(', ').map((path) => resolve(directory, path));
    const own = suppression.filter(({ file }) => paths.includes(resolve(directory, file)));
    return own.length === 0 ? list : own.map((each) => describeList(each, 'the first recipients')).join('; ');
  });
  return { lists: described, warnings: suppression.map(warnOfList).filter((warning) => warning !== undefined) };
}

interface WhoShown extends ReturnType<typeof describeLists> {
  readonly columns: readonly TickableColumn[];
  readonly said: string;
  readonly unasked: readonly string[];
}

function whoPage(view: View, { optOuts, sharesMemory }: CampaignJob, shown: WhoShown): PageAnswer {
  const { columns, said, unasked, lists, warnings } = shown;
  const none =
    columns.length === 0
      ? html`<p class="dim">No column of the file has few enough values to tick.</p>`
      : html`<p>Tick values to write only to people who have them. A column without a tick does not count.</p>`;
  const isKept = (index: number) => view.written.sha256 === undefined || view.written[`list-${index}`] !== undefined;
  const ticks = lists.map(
    (list, index) =>
      html`<label class="tick"><input type="checkbox" name="list-${index}"${isKept(index) && html` checked`}> ${list}</label>`,
  );
  const everywhere = html`<a href="/people">opted out</a> of all campaigns`;
  const listed =
    lists.length === 0 && optOuts === ''
      ? html`<p class="note"><b>No list of people who opted out is used${sharesMemory && html`, except that of those who ${everywhere}`}. Is that right?</b> People who said STOP elsewhere, or asked you not to write, must be on a list here.</p>`
      : html`<p>The people on these lists get nothing, also when they are in the file:</p><div role="group" aria-label="Lists">${ticks}</div>${optOuts !== '' && html`<p>${optOuts}, for the whole job</p>`}${sharesMemory && html`<p class="dim">Who ${everywhere} gets nothing either.</p>`}`;
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
      html`<label class="tick"><input type="checkbox" name="${nameTick(column, value)}"${isTicked && html` checked`}> ${value === '' ? html`<i>blank</i>` : value} <span class="dim">${rows === 0 ? 'not in these rows' : format(rows)}</span></label>`,
  );
  const some = values
    .slice(0, 3)
    .map(({ value }) => value || 'blank')
    .join(', ');
  return html`<details class="column" id="${id}"${isOpen && html` open`}><summary><b>${column}</b> <span class="dim">${some}${values.length > 3 ? ' …' : ''}</span></summary><div role="group" aria-label="${column}">${ticks}</div></details>
`;
}
