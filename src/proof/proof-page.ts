import { countOf } from '../domain/count-of.js';
import type { Plan } from '../plan/format/plan-file.js';
import { type Html, html, MOST_ROWS, NOTHING, renderSection, renderTable } from '../report/page/html.js';
import { formatPage } from '../report/page/report-page.js';
import { describeRun } from '../report/page/sentence.js';
import type { Summary } from '../report/summary.js';
import type { ProofEntry } from './proof-chain.js';
import type { ProvenBalance } from './prove-run.js';

export interface MadeProof {
  /** The digest of the last entry, for a person to note elsewhere. */
  readonly head: string;
  readonly entries: number;
  readonly approvals: readonly ProofEntry[];
  readonly balances: readonly ProvenBalance[];
}

/** `proof.html`: what a proof says, for people, with the program that checks it. Made of the proof alone: the same proof gives the same bytes. */
export function formatProofPage(
  proof: MadeProof,
  { plan, summary, verifier }: { plan: Plan; summary: Summary; verifier: string },
): string {
  const { id } = plan;
  const job = plan.job.name;
  const [first = '', ...others] = describeRun(summary, plan);
  const unfinished =
    summary.state === 'finished' ? NOTHING : html`<p>The run is not finished: this is what it did so far.</p>`;
  return formatPage(
    `Proof of run ${id} of job ${job}`,
    html`<h1>${job}: proof of run <code>${id}</code></h1>
<p class="lead">${first}</p>
<p>${others.join(' ')}</p>
${unfinished}
<h2>Head of the chain</h2>
<p><code>${proof.head}</code></p>
<p>The digest of the last of ${countOf(proof.entries, 'entry', 'entries')}. Note it where the one who keeps the files cannot change it: it vouches for everything in proof.json.</p>
${renderPeople(proof, plan)}
${renderBalances(proof)}
<h2>What it proves, and what it does not</h2>
<p>In proof.json each entry carries the digest of the one before it: one that was changed, added, taken out or moved is found. Who holds all files can make another chain from its beginning; so a proof counts as much as the place where its head was noted. An approval, and its signature, is of plan.json by its digest, and not of what was sent: that planner, files, senders and texts are of the plan that was approved, <code>verify.mjs --plan plan.json</code> checks. It says what Volley recorded: that the service took a message, by its answer, and that it was delivered, by its receipts.</p>
<p>A number stands in it as the SHA-256 of a salt and its digits. With the salt one can look up one person, and could also try all numbers: it is not in the proof, but in proof.salt in the directory of the run.</p>
<h2>How to check it</h2>
<p>With Node 20 or later, without Volley; the program is below, and stands beside this page as verify.mjs.</p>
<pre>node verify.mjs proof.json --head ${proof.head}
node verify.mjs proof.json --plan plan.json
node verify.mjs proof.json --salt proof.salt 1-sms.results.csv
node verify.mjs proof.json --salt proof.salt --number +6591234567</pre>
<details>
<summary>verify.mjs</summary>
<pre>${verifier}</pre>
</details>
`,
  );
}

function renderPeople({ approvals }: MadeProof, { plannedBy }: Plan): Html {
  const planned = plannedBy === undefined ? [] : [['planned', plannedBy, '', '']];
  const approved = approvals.slice(0, MOST_ROWS).map(({ name, at, publicKey }) => {
    return ['approved', String(name), new Date(Number(at)).toISOString(), publicKey === undefined ? 'no' : 'Ed25519'];
  });
  const rows = [...planned, ...approved];
  if (rows.length === 0) return NOTHING;
  const columns = ['what', 'who', 'when', 'signed'];
  return renderSection('People', renderTable({ name: 'Who planned and who approved', columns }, rows));
}

function renderBalances({ balances }: MadeProof): Html {
  const plan = ['#read', '#rejected', '#skipped', '#planned'];
  const run = ['#accepted', '#rejected by the service', '#in doubt', '#not sent', '#unprocessed'];
  const columns = ['step', ...plan, ...run];
  const rows = balances.slice(0, MOST_ROWS).map(({ step, kind, read, rejected, skipped, planned, outcomes }) => {
    return [`${step} ${kind}`, read, rejected, skipped, planned, ...Object.values(outcomes)];
  });
  return html`<h2>Balance</h2>
<p>Read = planned + rejected + skipped. Planned = accepted + rejected by the service + in doubt + not sent + unprocessed.</p>
${renderTable({ name: 'Rows by step', columns }, rows)}`;
}
