import type { PlantedBug } from './planted-bug.js';

export const APPROVAL_BUGS: readonly PlantedBug[] = [
  {
    name: 'an approval of another plan.json counts',
    file: 'src/registry/approvals.ts',
    find: "  if (entry.planSha256 !== planSha256) return 'plan.json was another one';\n",
    replace: '',
    tests: ['test/e2e/approve.test.ts'],
    title:
      'an approval is of one plan.json: under other limits, or with one byte changed and sealed again, it counts no more',
  },
  {
    name: 'the requests of an approved plan may be others',
    file: 'src/plan/format/planned-files.ts',
    find: 'of listFiles(directory, plan))\n    await assertWhole(',
    replace: "of listFiles(directory, plan).filter(({ path }) => path.includes('.rows.')))\n    await assertWhole(",
    tests: ['test/e2e/approve.test.ts'],
    title: 'an approval is of the requests too: with another text in one, and a checksum that fits, nothing is sent',
  },
  {
    name: 'who planned may approve',
    file: 'src/registry/approvals.ts',
    find: "  if (foldPerson(entry.name) === foldPerson(plannedBy)) return 'given by who planned it';\n",
    replace: '',
    tests: ['test/e2e/approve.test.ts'],
    title: 'an approval whose name, for that of who planned was changed in the memory does not count',
  },
  {
    name: 'a job that asks for less approval takes the guard from a plan that waits',
    file: 'src/plan/format/run-directories.ts',
    find: '  if (now < before || ',
    replace: '  if (',
    tests: ['test/e2e/approve.test.ts'],
    title: 'a job that asks for less later takes nothing away: only letting the plan go does, with a name',
  },
  {
    name: 'run does not look for approvals',
    file: 'src/run/checks-before.ts',
    find: '  await assertApproved(files, run, registry);\n',
    replace: '',
    tests: ['test/e2e/approve.test.ts'],
    title: 'a plan that asks for approval is sent once another person approved it, and says what to do until then',
  },
  {
    name: 'any answer to the question sends',
    file: 'src/command/confirm-sending.ts',
    find: "if (typed?.replaceAll(/[\\s,]/g, '') === String(first.count)) return;",
    replace: 'if (typed !== undefined) return;',
    tests: ['test/e2e/sending-question.test.ts'],
    title:
      'run asks at a terminal before anything is sent; another answer keeps the plan, and names the command that sends it',
  },
];
