import { type AddVerbs, brief, json, textArgument, textOption } from '../verb.js';
import { databaseOptions, readDatabase } from './database-options.js';

const options = { ...databaseOptions, json } as const;

/** `volley cluster init | status | drop RUN` */
export const addClusterVerbs: AddVerbs = (cli, { terminal, finish }) =>
  cli.command(
    'cluster',
    'The database of jobs with `cluster`: make its schema, see who works, let a run go',
    (command) =>
      brief(command, 'cluster init|status|drop', terminal)
        .command(
          'init',
          'Create the schema volley in a PostgreSQL database, or bring it up to date',
          (sub) =>
            brief(sub, 'cluster init', terminal)
              .options({
                role: textOption('Role that leaders and workers connect as: gets what they need, and no more'),
                ...options,
              })
              .example('$0 cluster init --role volley_worker', ''),
          ({ role, databaseEnv, databaseFile, json }) =>
            finish(
              import('../../commands/cluster/manage-cluster.js').then(({ initCluster }) =>
                initCluster({ role, database: readDatabase(databaseEnv, databaseFile), json }, terminal),
              ),
            ),
        )
        .command(
          'status',
          'Show runs, workers and lanes of the database, and how many rows of people it holds',
          (sub) => brief(sub, 'cluster status', terminal).options(options),
          ({ databaseEnv, databaseFile, json }) =>
            finish(
              import('../../commands/cluster/manage-cluster.js').then(({ showCluster }) =>
                showCluster({ database: readDatabase(databaseEnv, databaseFile), json }, terminal),
              ),
            ),
        )
        .command(
          'drop <run>',
          'Delete what the database holds of a run; what workers had of it is in doubt then',
          (sub) =>
            brief(sub, 'cluster drop <run>', terminal)
              .positional('run', textArgument('Id of the run, as cluster status shows it'))
              .options(options),
          ({ run, databaseEnv, databaseFile, json }) =>
            finish(
              import('../../commands/cluster/manage-cluster.js').then(({ dropFromCluster }) =>
                dropFromCluster({ run, database: readDatabase(databaseEnv, databaseFile), json }, terminal),
              ),
            ),
        )
        .demandCommand(1, 'Say what to do: init, status or drop.'),
  );
