import type { PlantedBug } from './planted-bug.js';

export const REIMPORT_BUGS: readonly PlantedBug[] = [
  {
    name: 'a plan that was never sent belongs to no run',
    file: 'src/registry/report-campaign.ts',
    find: '    ...own,\n',
    replace: '',
    tests: ['test/retry/left-rows.test.ts'],
  },
  {
    name: 'a row that came back corrected counts where it stood, too',
    file: 'src/plan/plan-step.ts',
    find: 'reimported?.findComeBack(contentSha256, row.row) ?? judge.refuse(row)',
    replace: 'judge.refuse(row)',
    tests: ['test/e2e/re-imported.test.ts'],
    title: 'count where they came back, and are sent from there alone, also once their file could be',
  },
  {
    name: 'a row that was corrected wrongly before anything was sent is lost to later corrections',
    file: 'src/plan/reimport/named-rows.ts',
    find: "id === undefined || (row.state === 'skipped' && row.skip.code === 'read-again')",
    replace: 'id === undefined',
    tests: ['test/e2e/re-imported.test.ts'],
    title: 'count once over any number of corrections, right and wrong, in files of any order',
  },
  {
    name: 'rows of a file that was saved anew are other rows',
    file: 'src/plan/format/plan-file.ts',
    find: '  return rowsSha256 ?? contentSha256;',
    replace: '  return rowsSha256 === undefined ? contentSha256 : contentSha256;',
    tests: ['test/e2e/re-imported.test.ts'],
    title:
      'a row that a draft refused, of a file that a run read in another encoding, and planned is not sent once more',
  },
  {
    name: 'what came back is compared with no rows of the run that took its file',
    file: 'src/registry/twins.ts',
    find: "    if (state === 'planned' && claims.countOf(plan.id) === 0) return false;",
    replace: '    if (state && claims.countOf(plan.id) === 0) return false;',
    tests: ['test/e2e/re-imported.test.ts'],
    title: 'gets no message where another row of the file had the number',
  },
  {
    name: 'a row that was sent from the rejections of a draft is sent from its own file, too',
    file: 'src/retry/assert-owned.ts',
    find: '    if (!isClaimed && !inputs.some(',
    replace: '    if (!inputs.some(',
    tests: ['test/e2e/re-imported.test.ts'],
    title:
      'and sent from the rejections before the file itself is read, refuses the plan of the file until it is removed',
  },
  {
    name: 'a plan of a retry knows its files by the rows that it has of them',
    file: 'src/plan/retry-and-test-plans.ts',
    find: 'rowsSha256: planned.inputs[index]?.rowsSha256 }',
    replace: 'rowsSha256: planned.inputs[index] && input.rowsSha256 }',
    tests: ['test/e2e/cancel.test.ts'],
    title: 'what was taken back and sent again with --again, saved anew with a byte order mark, is not retried too',
  },
  {
    name: 'a row is that of the run which took its file, whoever has claimed it since',
    file: 'src/registry/owner-lookup.ts',
    find: 'owners.findLast((plan) => plan !== this.#plan.id)',
    replace: 'owners.findLast((plan) => plan === this.#plan.id)',
    tests: ['test/run/sent-once.test.ts'],
    title: 'a row that two plans refused',
  },
  {
    name: 'the rejections of a test are sent to their recipients once they are re-imported',
    file: 'src/plan/reimport/named-rows.ts',
    find: '  if (testOf !== undefined) return',
    replace: '  if (testOf === null) return',
    tests: ['test/e2e/own-numbers.long.test.ts'],
    title: 'volley test rows that the service refused in a test are not sent when its rejections are re-imported',
  },
];
