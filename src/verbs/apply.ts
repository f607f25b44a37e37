import { dirname } from 'node:path';
import { applyRunDirectory } from '../command/send-job.js';
import { watchCommand } from '../observe/watch-command.js';
import { readRegistry } from '../registry/open-registry.js';
import { findSentAgain } from '../retry/claiming-plan.js';
import { describeDone, readNextOfPlan } from './job-result.js';
import { defineVerb, sending, theRun, whole, yes } from './verb.js';

/** `volley apply RUN`: sends exactly the plan in a run directory, or resumes it. */
export const apply = defineVerb({
  args: { run: theRun },
  flags: {
    'ignore-changed-inputs': yes(
      'Continue although an input file changed since the plan was made; the plan is sent as it is',
    ),
    'pass-stage': {
      ...whole('Let the stage with this number pass, which waits for a person; noted with your name', 1),
      implies: 'confirm',
    },
    ...sending,
  },
  examples: [['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --confirm k3v9q2m8x4aa', '']],
  watch: (flags, context, task) => watchCommand('apply', flags, context, task),
  run: async (flags, context) => {
    const { plan, testedRun, summary, openDoubt } = await applyRunDirectory(context, flags.run, flags);
    const done = { summaries: [summary], leftOut: [], openDoubt };
    const { directory } = summary;
    const again = flags.ignoreChangedInputs === true ? ['--ignore-changed-inputs'] : [];
    const planned = plan.testOf && (await readNextOfPlan(context, { directory, plan, testedRun }));
    const registry = await readRegistry(context.env.files, dirname(directory));
    const sentAgain = findSentAgain(registry, plan);
    return describeDone(done, plan.job, { planned, flags: again, sentAgain }, context);
  },
});
