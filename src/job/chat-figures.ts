/**
 * What the text of a chat step may name, each a text when the run renders it: the job and the plan by name, how the run
 * ended (`state`, and `reason` and `detail` where it stopped), the rows of all steps as jobs/reference/job-file.md says, how long it
 * took and since when, and where its files are.
 */
export const CHAT_FIGURES = [
  'job',
  'plan',
  'state',
  'reason',
  'detail',
  'read',
  'accepted',
  'rejected',
  'skipped',
  'inDoubt',
  'unprocessed',
  'seconds',
  'startedAt',
  'directory',
] as const;

export type ChatFigure = (typeof CHAT_FIGURES)[number];
