import { type Screen, showCommand, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { jobDirectoryOf } from '../command/with-job.js';
import type { Job } from '../job/job.js';
import type { LeftOut } from '../plan/inputs/select-inputs.js';
import { listLeftOut } from './file-notices.js';
import { nextOfTakenBack } from './next-step.js';
import { formatNextStep } from './text-lines.js';

/** What run and plan say where nothing is new: which files were omitted and why, and how they are sent all the same. */
export function formatIdle(
  job: Job,
  leftOut: readonly LeftOut[],
  { path, screen }: { path: string | undefined; screen: Screen },
): string {
  const files = listLeftOut(leftOut)
    .map((line) => `  ${escapeText(line)}\n`)
    .join('');
  const takenBack = [...new Set(leftOut.flatMap(({ takenBackFrom }) => takenBackFrom ?? []))];
  const retries = takenBack.map((run) => formatNextStep(nextOfTakenBack(run, path, screen), screen)).join('');
  const again = path === undefined ? '--again' : showCommand(screen, 'run', showPath(screen, path), '--again');
  return (
    `Nothing new for job ${job.name}: nothing was sent.\n${files}` +
    `Results of earlier runs: ${escapeText(showPath(screen, jobDirectoryOf(job)))}\n` +
    (retries === '' ? `To send the same files again: ${escapeText(again)}\n` : retries)
  );
}
