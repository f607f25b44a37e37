import { join } from 'node:path';
import { quoteWord, UserError } from '../domain/errors.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';
import { hasWork } from './has-work.js';

/**
 * Refuses to resume a run automatically that the service refused as a whole: its requests are fixed in the plan, and
 * each try would cost rows. A person fixes the job or the account first, and the next command says which.
 */
export async function assertNotRefused(
  files: Files,
  { directory, plan }: { directory: string; plan: Plan },
): Promise<void> {
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const { lastClose } = state;
  if (lastClose?.reason !== 'request-refused' || !plan.steps.some((planned) => hasWork(planned, state))) return;
  throw new UserError('guard', `Cannot resume run ${plan.id}: ${lastClose.detail}`, {
    hint:
      `Nothing more was sent. If you fixed the job file: \`volley retry ${quoteWord(directory)} --only unprocessed\`, with --job and the job file, plans the rest, ` +
      `and --only rejected plans the rows that were refused. If the service was fixed: \`volley apply ${quoteWord(directory)}\` sends the same requests again.`,
  });
}
