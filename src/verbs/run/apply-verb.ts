import { ignoreOpenDoubt, runArgument, wait } from '../job-options.js';
import { metricsOptions, readMetricsFlags } from '../metrics-options.js';
import { type AddVerbs, adopt, json } from '../verb.js';

/** `volley apply RUN` */
export const addApplyVerb: AddVerbs = (cli, context) => {
  const { terminal, finish } = context;
  return cli.command(
    'apply <run>',
    'Send exactly the plan in a run directory, or resume it',
    (command) =>
      runArgument(command, 'apply', context)
        .options({
          confirm: { describe: 'Id of the plan that was reviewed; another one is refused', type: 'string' },
          'ignore-changed-inputs': {
            describe: 'Continue although an input file changed since the plan was made; the plan is sent as it is',
            type: 'boolean',
            default: false,
          },
          'ignore-open-doubt': ignoreOpenDoubt,
          wait,
          ...metricsOptions,
          adopt,
          json,
        })
        .example('$0 apply out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --confirm k3v9q2m8x4aa', ''),
    ({ run, confirm, ignoreChangedInputs, ignoreOpenDoubt, wait, adopt, json, ...more }) =>
      finish(
        import('../../commands/apply-run.js').then(({ applyRun }) =>
          applyRun(
            { run, confirm, ignoreChangedInputs, ignoreOpenDoubt, wait, adopt, json, metrics: readMetricsFlags(more) },
            terminal,
          ),
        ),
      ),
  );
};
