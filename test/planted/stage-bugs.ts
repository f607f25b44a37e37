import type { PlantedBug } from './planted-bug.js';

export const STAGE_BUGS: readonly PlantedBug[] = [
  {
    name: 'a stage passes, and nothing notes it',
    file: 'src/run/send/sending-stages.ts',
    find: '        await journal.append(entry);\n',
    replace: '',
    tests: ['test/run/stages.test.ts'],
  },
  {
    name: 'requests of later stages leave at once',
    file: 'src/run/send/send-context.ts',
    find: "  if (stages?.isOpen(head) === false) return 'the stage before it has not passed';\n",
    replace: '',
    tests: ['test/run/stages.test.ts'],
  },
  {
    name: 'a stage without any receipt passes where no share of them is needed',
    file: 'src/run/send/sending-stages.ts',
    find: '(final === 0 || final * 100 < needReceiptsPercent * sent)',
    replace: 'final * 100 < needReceiptsPercent * sent',
    tests: ['test/run/stages.test.ts'],
  },
  {
    name: 'rows in doubt do not count against a stage',
    file: 'src/run/send/sending-stages.ts',
    find: "const bad = rows.rejected + rows['in-doubt'];",
    replace: 'const bad = rows.rejected;',
    tests: ['test/run/stages.test.ts'],
  },
  {
    name: 'a stage is judged before its pause is over',
    file: 'src/run/send/sending-stages.ts',
    find: '    if (!(await pause(stage))) return undefined;\n',
    replace: '',
    tests: ['test/run/stages.test.ts'],
  },
  {
    name: 'whom a resumed run omits is asked of the step that stands in the place of its own by now',
    file: 'src/run/resume.ts',
    find: 'const same = matchSteps(plannedJob, job)[index];',
    replace: 'const same = { at: index, isSame: true };',
    tests: ['test/run/resume.test.ts'],
    title: 'omits whom the job omits now, where its step',
  },
];
