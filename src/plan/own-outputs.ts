const PLACE = ['_step', '_file', '_line', '_row'];
const OUTSIDE = 'Rows in it that really are new are read once the columns that begin with _ are taken out of the file.';

/**
 * Why an output of ours is not taken as input, from those of its columns that begin as ours do: its rows were sent, or may
 * have been, or their run still has them. Undefined for rejections, and for results of another kind of step.
 */
export function findRefusal(
  own: readonly string[],
  resultColumns: readonly string[],
): { message: string; hint: string } | undefined {
  const has = (name: string) => own.includes(name);
  if (has('_stage')) return has('_rowId') ? undefined : WITHOUT_IDS;
  if (has('_status')) return resultColumns.every(has) ? RESULTS : undefined;
  if (has('_state') && has('_umid')) return resultColumns.includes('_umid') ? DELIVERIES : undefined;
  const isSkipped = own.every((name) => PLACE.includes(name) || name === '_code' || name === '_reason');
  return isSkipped ? SKIPPED : UNSETTLED;
}

const WITHOUT_IDS = {
  message: 'it is a rejections file without the column _rowId, by which a row that was sent since is known again',
  hint: `Make the file anew with \`volley report\` and its run directory, and mend that. ${OUTSIDE}`,
};
const RESULTS = {
  message: 'it holds results of a step of the same kind: its rows were sent, expected rows that were not',
  hint: `Take it out of the input of the step. ${OUTSIDE}`,
};
const DELIVERIES = {
  message: 'it holds deliveries: its rows were sent, expected rows that were not',
  hint: `Take it out of the input of the step. ${OUTSIDE}`,
};
const SKIPPED = {
  message: 'it holds rows that a run skipped: duplicates, people who opted out, and rows that another plan has',
  hint: `Take it out of the input. ${OUTSIDE}`,
};
const UNSETTLED = {
  message: 'it holds rows in doubt, or unprocessed ones: they may have been sent, or their run will send them',
  hint: `Settle rows in doubt with \`volley settle\`; for the others finish the run, or use \`volley retry\`. ${OUTSIDE}`,
};
