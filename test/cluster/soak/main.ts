import { resolve } from 'node:path';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { startPostgres } from '../postgres-server.js';
import { soakCluster, type Victim } from './soak-cluster.js';

const { kills, from, killsAJob, command } = await yargs(hideBin(process.argv))
  .usage('npm run test:cluster -- [options]')
  .options({
    kills: { type: 'number', default: 200, describe: 'How often a worker, a leader or the database is ended' },
    from: { type: 'number', default: 1, describe: 'The first seed; each job has one' },
    'kills-a-job': { type: 'number', default: 20, describe: 'After so many, a job runs to its end' },
    command: { type: 'string', default: 'dist/cli.js', describe: 'The built command' },
  })
  .strict()
  .parseAsync();

const total = { jobs: 0, rows: 0, requests: 0, inDoubt: 0, failed: 0 };
const ended: Record<Victim, number> = { worker: 0, leader: 0, server: 0, paused: 0, cutOff: 0 };
const startMs = performance.now();
const sumOf = (counts: Record<Victim, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0);
for (let seed = from; sumOf(ended) < kills; seed++) {
  const server = await startPostgres();
  try {
    const count = Math.min(killsAJob, kills - sumOf(ended));
    const done = await soakCluster({ command: resolve(command), kills: count, seed }, server);
    for (const victim of Object.keys(ended) as Victim[]) ended[victim] += done.ended[victim];
    total.rows += done.rows;
    total.requests += done.requests;
    total.inDoubt += done.inDoubt;
  } catch (error) {
    total.failed += 1;
    ended.worker += killsAJob;
    process.stdout.write(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}\n`);
  } finally {
    await server.close();
  }
  total.jobs += 1;
}
process.stdout.write(
  `${ended.worker} workers and ${ended.leader} leaders killed, ${ended.paused} workers paused and ${ended.cutOff} cut off from the database beyond their lease, the database ended ${ended.server} times\n` +
    `${total.jobs} jobs of ${total.rows} rows, ${total.requests} requests: ${total.failed} failed; ${total.inDoubt} rows in doubt\n` +
    `${((performance.now() - startMs) / 1000).toFixed(1)} s\n`,
);
process.exitCode = total.failed === 0 ? 0 : 1;
