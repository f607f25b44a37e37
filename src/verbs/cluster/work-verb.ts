import { UserError } from '../../domain/errors.js';
import { metricsOptions, readMetricsFlags } from '../metrics-options.js';
import { type AddVerbs, brief, json, KEEP_EACH, takeAll, takeOne, textOption } from '../verb.js';
import { databaseOptions, readDatabase } from './database-options.js';

/** `volley work` */
export const addWorkVerb: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'work',
    'Send requests of runs that other processes lead over a database; as many workers as wanted, on any machine',
    (command) =>
      brief(command, 'work', terminal, 'job: it works for all runs of the database; `--run ID` for one')
        .parserConfiguration(KEEP_EACH)
        .options({
          'until-done': {
            describe: 'End when no run is left in the database, once there was one; else it waits for the next',
            type: 'boolean',
            default: false,
          },
          'until-idle': textOption('End after so long without anything to do, such as 60s or 10m'),
          run: textOption('Id of a run: works for that one alone'),
          'lease-seconds': {
            describe: 'Time after which the requests of this worker are free for others if it dies; 15 to 3600',
            type: 'number',
            default: 30,
            requiresArg: true,
          },
          'allow-url': textOption(
            'Address that runs may send to beside the service and this machine, such as https://sms-proxy.example.com; may be given several times',
          ),
          'allow-secret-env': textOption(
            'Variable that runs may read a key from beside those that begin with VOLLEY_; may be given several times',
          ),
          'allow-secret-file': textOption('File that runs may read a key from; may be given several times'),
          ...databaseOptions,
          ...metricsOptions,
          json,
        })
        .example('$0 work', 'works until a signal, for all jobs of the database')
        .example('$0 work --until-done --run k3v9q2m8x4aa', 'for a Kubernetes Job'),
    ({ untilDone, leaseSeconds, json, ...given }) => {
      const one = (name: string) => takeOne(name, (given as Readonly<Record<string, unknown>>)[name]);
      const untilIdle = one('until-idle');
      return finish(
        import('../../commands/cluster/work-for-runs.js').then(({ workForRuns }) =>
          workForRuns(
            {
              database: readDatabase(one('database-env'), one('database-file')),
              run: one('run'),
              untilDone,
              untilIdleMs: untilIdle === undefined ? undefined : readIdle(untilIdle),
              leaseSeconds: readLease(leaseSeconds),
              allowUrls: takeAll('allow-url', given.allowUrl) ?? [],
              allowSecrets: [
                ...(takeAll('allow-secret-env', given.allowSecretEnv) ?? []),
                ...(takeAll('allow-secret-file', given.allowSecretFile) ?? []),
              ],
              json,
              metrics: readMetricsFlags({
                metricsFile: one('metrics-file'),
                metricsPort: one('metrics-port'),
                metricsHost: one('metrics-host') ?? '',
              }),
            },
            terminal,
          ),
        ),
      );
    },
  );

function readLease(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 15 && seconds <= 3600) return seconds;
  throw new UserError(
    'bad-flag',
    `Cannot work: --lease-seconds is ${seconds}, expected a whole number from 15 to 3600`,
  );
}

/** Milliseconds of `60s` or `10m`. */
function readIdle(text: string): number {
  const [, count = '', unit] = /^(\d{1,5})([sm])$/.exec(text) ?? [];
  if (count !== '') return Number(count) * (unit === 'm' ? 60_000 : 1000);
  throw new UserError(
    'bad-flag',
    `Cannot work: --until-idle is ${JSON.stringify(text)}, expected a time such as 60s or 10m`,
  );
}
