import { countOf } from '../../domain/count-of.js';
import { formatTime, stateTime } from '../../domain/stated-time.js';
import type { RetryOf } from '../../plan/format/plan-file.js';
import type { Summary } from '../summary.js';
import { type Html, html, NOTHING } from './html.js';
import { renderTable } from './page-tables.js';

/** A run of a campaign, with its own figures. */
export interface CampaignRun {
  readonly summary: Summary;
  /** Which rows of another run it retries; undefined where it has rows of its own. */
  readonly only: RetryOf['only'] | undefined;
  /** It has rows that came back as input: rejections of other runs that were corrected. */
  readonly isReimport: boolean;
}

const MOST_RUNS = 12;

/** Which runs a campaign has, the last ones where they are many; `missing`: those that are pruned or gone, and not counted. */
export function renderCampaign(runs: readonly CampaignRun[], missing: readonly string[], timeZone: string): Html {
  const columns = [
    ...['run', 'began', 'what it sent'].map((title) => ({ title })),
    ...['read', 'accepted'].map((title) => ({ title, isNumber: true })),
  ];
  const rows = runs.slice(-MOST_RUNS).map(({ summary, only, isReimport }) => {
    const { plan, startedAt, balance } = summary;
    const began = startedAt === null ? 'not yet' : formatTime(stateTime(Date.parse(startedAt), timeZone));
    const what = only !== undefined ? `again: ${WORDS[only]}` : isReimport ? 'also corrected rows' : 'its files';
    return [html`<code>${plan}</code>`, began, what, balance.read, balance.accepted];
  });
  const earlier = runs.length - rows.length;
  const lacks =
    missing.length === 0
      ? NOTHING
      : html`<p>Not counted: ${countOf(missing.length, 'run')} whose rows are deleted, ${missing.slice(0, MOST_RUNS).join(', ')}.</p>
`;
  return html`<h2>Runs</h2>
<p>${countOf(runs.length, 'run')}; above each row counts once, as the last run that had it.${earlier === 0 ? '' : ` The last ${rows.length}:`}</p>
${renderTable({ name: 'Runs of the campaign', columns }, rows)}${lacks}`;
}

const WORDS: Readonly<Record<RetryOf['only'], string>> = {
  rejected: 'what the service refused',
  unprocessed: 'what was not sent',
  'not-sent': 'what was in doubt, and not sent',
  filtered: 'what a filter had left out',
  'had-it-already': 'what was held as sent before',
  'too-often': 'what was held as too often',
  'no-time-zone': 'what was held without a time zone',
};
