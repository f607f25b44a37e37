import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { closing, discarding } from '../domain/closing.js';
import { countOf, sumOf } from '../domain/count-of.js';
import { InternalError, UserError } from '../domain/errors.js';
import { readPublicKey } from '../job/schema/approvers.js';
import { RowStatusView } from '../journal/row-status-view.js';
import { maskNumbers } from '../normalize/mask.js';
import { digestPlanOf, JOURNAL_FILE, type Plan, type PlannedStep, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { sha256Of } from '../plan/format/sealed-json.js';
import { readApprovals } from '../registry/approvals.js';
import { readRegistry } from '../registry/open-registry.js';
import { type Html, html, MOST_ROWS, NOTHING, renderSection, renderTable } from '../report/page/html.js';
import { describeRun, formatPage } from '../report/page/report-page.js';
import type { Summary } from '../report/summary.js';
import { writeFromGrowing } from '../report/write-from-growing.js';
import type { Files } from '../storage/files.js';
import { readWholeLines } from '../storage/split-lines.js';
import {
  PROOF_FILE,
  ProofChain,
  type ProofEntry,
  type ProofSource,
  type ProvenBalance,
  proveJournal,
  proveRows,
} from './prove-run.js';

/** Beside the run's other files, never beside a proof that is handed on: with it one can try numbers. */
export const SALT_FILE = 'proof.salt';
export const PROOF_PAGE = 'proof.html';
export const VERIFIER = 'verify.mjs';

/**
 * Writes the proof of a run from its plan, its journal and its summary: `proof.json`, `proof.html` and the program that checks them, each
 * whole or not at all. The same run in the same state has the same proof.
 */
export function writeProof(
  files: Files,
  source: ProofSource,
  { output, summarize }: { readonly output: string; readonly summarize: () => Promise<Summary> },
): Promise<{ readonly made: MadeProof; readonly summary: Summary }> {
  return writeFromGrowing(files, join(source.directory, JOURNAL_FILE), async (each) => {
    const summary = await summarize();
    const made = await writeChain(each, source, { output, summary });
    const verifier = await readFile(new URL(VERIFIER, import.meta.url), 'utf8');
    await each.writeWhole(join(output, VERIFIER), verifier);
    await each.writeWhole(join(output, PROOF_PAGE), formatProofPage(made, { plan: source.plan, summary, verifier }));
    return { made, summary };
  });
}

async function writeChain(
  files: Files,
  source: ProofSource,
  { output, summary }: { readonly output: string; readonly summary: Summary },
): Promise<MadeProof> {
  const { directory, plan, salt } = source;
  await using file = discarding(await files.createWhole(join(output, PROOF_FILE)));
  const chain = new ProofChain(file);
  const planSha256 = await digestPlanOf(files, directory);
  await chain.add({ ...describePlan(plan), planSha256, saltSha256: sha256Of(salt) });
  const approvals = await listApprovals(files, source);
  for (const approval of approvals) await chain.add(approval);
  const rows = new RowStatusView(plan.steps);
  for await (const entry of proveJournal(files, source, rows)) await chain.add(entry);
  const balances: (ProvenBalance & { results: string | undefined })[] = [];
  for (const planned of plan.steps) {
    const balance = await proveRows(files, chain, { source, planned, rows });
    const name = summary.steps.find(({ number }) => number === planned.number)?.files.results;
    // Behind the salt: the numbers of a short file could be tried.
    const results = name === undefined ? undefined : await digestFile(files, join(directory, name), salt);
    balances.push({ ...balance, results: results?.sha256 });
  }
  await chain.add({
    type: 'receipts',
    deliveries: summary.deliveries ?? {},
    billed: summary.billed && { amounts: summary.billed.amounts, messages: summary.billed.messages },
    ...(await digestFile(files, join(directory, RECEIPTS_FILE))),
  });
  for (const balance of balances) await chain.add({ type: 'balance', ...balance });
  const journal = await digestFile(files, join(directory, JOURNAL_FILE));
  await chain.add({ type: 'end', state: summary.state, stop: summary.stop?.reason, journal });
  assertSame(balances, summary);
  return { ...(await chain.finish()), approvals, balances };
}

function describePlan(plan: Plan): ProofEntry {
  const { service, name } = plan.job;
  return {
    type: 'plan',
    run: plan.id,
    job: name,
    plannedBy: plan.plannedBy,
    service: service.sandbox ? 'sandbox' : `account ${service.account}, subaccount ${service.subAccountId}`,
    retryOf: plan.retryOf?.run,
    testOf: plan.testOf && { plan: plan.testOf.plan, numbers: plan.testOf.numbers },
    steps: plan.steps.map((step) => describeStep(step, plan)),
  };
}

function describeStep({ number, kind, counts, inputs, suppression }: PlannedStep, { job }: Plan) {
  const step = job.steps[number - 1];
  const { source, text } = (step?.kind === 'sms' ? step.template : undefined) ?? {};
  return {
    number,
    kind,
    counts: { ...counts },
    inputs: inputs.map(({ file, rows, sha256 }) => ({ file: maskNumbers(file), rows, sha256 })),
    suppression: suppression.map(({ file, read, sha256 }) => ({ file: maskNumbers(file), read, sha256 })),
    sender: source,
    textSha256: text === undefined ? undefined : sha256Of(text),
  };
}

/** Lists the approvals that count, with the key that each is signed with. */
async function listApprovals(files: Files, { directory, plan }: ProofSource): Promise<ProofEntry[]> {
  const state = await readRegistry(files, dirname(directory));
  const { given } = await readApprovals(files, { directory, plan }, state);
  return (state.recordOf(plan.id).approved ?? []).flatMap(({ at, name, by, planSha256, signature }, index) => {
    if (given[index]?.fault !== null) return [];
    const written = plan.job.approvers?.find((each) => each.name === name)?.publicKey;
    const key = written === undefined ? undefined : readPublicKey(written);
    const signed = signature && { signature, publicKey: key?.export({ type: 'spki', format: 'pem' }) };
    return [{ type: 'approval', at, name, by, planSha256, ...signed }];
  });
}

async function digestFile(
  files: Files,
  path: string,
  salt = '',
): Promise<{ bytes: number; sha256: string } | undefined> {
  if ((await files.stat(path)) === undefined) return undefined;
  await using file = closing(await files.openRead(path));
  const digest = createHash('sha256').update(salt);
  let bytes = 0;
  for await (const piece of readWholeLines(file)) {
    digest.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: digest.digest('hex') };
}

// Invariant: a proof says of the rows what the outputs say.
function assertSame(balances: readonly ProvenBalance[], { balance }: Summary): void {
  const sum = (of: (each: ProvenBalance) => number) => sumOf(balances.map(of));
  const isSame =
    sum(({ read }) => read) === balance.read &&
    sum(({ outcomes }) => outcomes.accepted) === balance.accepted &&
    sum(({ outcomes }) => outcomes['in-doubt']) === balance.inDoubt;
  if (isSame) return;
  throw new InternalError('unbalanced', 'Cannot prove the run: its rows are not those of its outputs');
}

/** The salt of a run; made once, so that a later proof of it has the same digests. Refuses one that was changed. */
export async function keepSalt(files: Files, directory: string, fresh: string): Promise<string> {
  const path = join(directory, SALT_FILE);
  // Its process died before it had written it, and so before any proof was made with it.
  if ((await files.readText(path)) === '') await files.remove(path);
  await files.createExclusive(path, `${fresh}\n`);
  const salt = ((await files.readText(path)) ?? '').trim();
  if (/^[0-9a-f]{64}$/.test(salt)) return salt;
  throw new UserError('bad-plan', `Cannot use ${path}: it does not hold a salt, expected 64 hex digits`, {
    hint: 'If no proof of the run was made yet, remove it: the next one makes it anew. Else put it back from a copy: without it no number can be checked against proofs that were made before.',
  });
}

export interface MadeProof {
  /** The digest of the last entry, for a person to note elsewhere. */
  readonly head: string;
  readonly entries: number;
  readonly approvals: readonly ProofEntry[];
  readonly balances: readonly ProvenBalance[];
}

/** `proof.html`: what a proof says, for people, with the program that checks it. Made of the proof alone: the same proof gives the same bytes. */
function formatProofPage(
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
