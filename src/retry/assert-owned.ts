import { quoteWord, UserError } from '../domain/errors.js';
import type { RowRefusal } from '../kinds/step-kind.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import { readRowsOfOthers } from '../plan/reimport/rows-of-others.js';
import { OwnerLookup } from '../registry/owner-lookup.js';
import { ReceivedRows } from '../registry/received-rows.js';
import type { OwnerSources } from '../registry/twins.js';
import { readRunRows } from '../report/read-run-rows.js';
import type { Files } from '../storage/files.js';
import { assertLineIsThere, assertNotSentAgain } from './claiming-plan.js';

type Sources = Omit<OwnerSources, 'received'>;
type Planned = { readonly plan: Plan; readonly directory: string };

/**
 * Refuses to begin a plan with rows of another run that are not its own: those of a plan that retries them must be claimed by it; and
 * none may have been claimed by another plan since, or be sent by now. One that was begun has them; it is refused where a receipt shows
 * that rows which it has yet to send were sent.
 */
export async function assertOwned(
  sources: Sources,
  { plan, directory, directories }: Planned & { readonly directories: RunDirectories },
): Promise<void> {
  const { files, history } = sources;
  const { state = 'planned' } = history.find((run) => run.plan.id === plan.id) ?? {};
  if (state === 'finished') return;
  const received = new ReceivedRows(files, directories);
  try {
    if (state !== 'planned') return await assertNotReceived(files, { plan, directory }, received);
    assertClaimed(plan, sources);
    await assertFree({ ...sources, received }, { plan, directory });
  } finally {
    await received.close();
  }
}

function assertClaimed(plan: Plan, { registry, history }: Sources): void {
  const { id, retryOf, steps } = plan;
  if (retryOf === undefined) return;
  assertLineIsThere(plan, history, `apply plan ${id}`);
  const rows = steps.reduce((sum, { counts }) => sum + counts.read, 0);
  if (registry.claims.countOf(id) >= rows) {
    const sinceMs = Math.min(...registry.claims.claimsOf(id).map(({ at }) => at));
    if (retryOf.only === 'not-sent') assertNotSentAgain(registry, { plan, sinceMs, doing: `apply plan ${id}` });
    return;
  }
  throw new UserError(
    'plan-mismatch',
    `Cannot apply plan ${id}: it has not claimed all of its rows from run ${retryOf.run}, they might be sent twice`,
    { hint: 'The command that made it did not finish: run the same `volley retry` again.' },
  );
}

async function assertNotReceived(files: Files, { plan, directory }: Planned, received: ReceivedRows): Promise<void> {
  if (!(await received.mayHave(plan.id))) return;
  const { rows } = await readRunRows(files, { directory, plan });
  let sent = 0;
  for await (const { step, index, isPlanned } of readRowsOfOthers(files, { directory, plan })) {
    const isOpen = isPlanned && rows.currentStatusOf(step, index) === 'open';
    if (isOpen && (await received.has({ run: plan.id, step, index }))) sent += 1;
  }
  if (sent === 0) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot resume run ${plan.id}: delivery receipts show that ${sent} of the rows it has yet to send were sent, they would be sent twice`,
    { hint: `\`volley retry ${quoteWord(directory)} --only unprocessed\` makes a plan of what is left without them.` },
  );
}

async function assertFree(sources: OwnerSources, { plan, directory }: Planned): Promise<void> {
  const owners = new OwnerLookup(sources, { plan, directory });
  const problems = new Map<string, { where: string; rows: number }>();
  const add = (found: string, place: string) => {
    const { where, rows } = problems.get(found) ?? { where: place, rows: 0 };
    problems.set(found, { where, rows: rows + 1 });
  };
  for await (const { where, owner } of owners.listClaimed(plan, directory))
    add(`plan ${owner} has claimed the row from a rejections file: remove it from this one`, where);
  for await (const row of readRowsOfOthers(sources.files, { directory, plan })) {
    const step = { kind: row.kind, number: row.step };
    const { refusal } = await owners.find(step, row.id);
    const twin = row.key === undefined ? undefined : owners.refuseTwin(row.step, row.id, row.key);
    const copy = refusal === undefined ? await owners.findCopy(plan, row) : undefined;
    const found =
      reasonOf(refusal ?? twin) ??
      (copy && `it stands in ${copy} too, and can be sent from there now: remove one of them`);
    if (found !== undefined) add(found, row.where);
  }
  if (problems.size === 0) return;
  const command = plan.retryOf === undefined ? 'volley plan` or `volley run' : 'volley retry';
  throw new UserError('plan-mismatch', `Cannot apply plan ${plan.id}: rows of it would be sent twice`, {
    hint: `Run the \`${command}\` that made it again: it omits them.`,
    problems: [...problems].map(([message, { where, rows }]) => {
      return { where, message: rows === 1 ? message : `${message}; the same holds for ${rows - 1} more` };
    }),
  });
}

function reasonOf(refusal: RowRefusal | undefined): string | undefined {
  return refusal?.kind === 'rejected' ? refusal.rejection.reason : refusal?.skip.reason;
}
