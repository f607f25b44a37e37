import { countOf } from '../../domain/count-of.js';
import { type Html, html, NOTHING } from './html.js';
import { renderTable } from './page-tables.js';

/** A test of the run's plan, as the job's registry knows it. */
export interface SentTest {
  /** Id of its own plan. */
  readonly run: string;
  readonly sentAtMs: number;
  /** How many own numbers it went to. */
  readonly numbers: number;
  /** Undefined for a test that has not come to its end. */
  readonly counts: { readonly read: number; readonly accepted: number } | undefined;
}

/** Which tests of the plan were sent, and whether they were accepted. The newest stand last; of many the first are summed up. */
export function renderTests(tests: readonly SentTest[]): Html {
  if (tests.length === 0) return NOTHING;
  const columns = [
    { title: 'test' },
    { title: 'sent' },
    ...['own numbers', 'messages', 'accepted'].map((title) => ({ title, isNumber: true })),
  ];
  const rows = tests.slice(-MOST_TESTS).map(({ run, sentAtMs, numbers, counts }) => {
    const figures = counts === undefined ? ['not finished', ''] : [counts.read, counts.accepted];
    return [html`<code>${run}</code>`, formatTime(sentAtMs), numbers, ...figures];
  });
  const accepted = tests.filter(({ counts }) => counts !== undefined && counts.accepted === counts.read).length;
  const earlier = tests.length - rows.length;
  return html`<h2>Tests</h2>
<p>${countOf(tests.length, 'test')} of this plan, ${accepted === 0 ? 'none' : accepted} accepted in full.${earlier === 0 ? '' : ` The last ${rows.length}:`}</p>
${renderTable({ name: 'Tests of this plan', columns }, rows)}`;
}

const MOST_TESTS = 10;

/** `2026-11-23 09:15 UTC` */
function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
