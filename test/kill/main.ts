import { resolve } from 'node:path';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { soakMany } from './soak.js';

/** A job bears so many kills: with more of them it would take longer, and show no more. */
const KILLS_A_JOB = 20;

const { kills, from, signal, atOnce, command } = await yargs(hideBin(process.argv))
  .usage('npm run test:kill -- [options]')
  .options({
    kills: { type: 'number', default: 200, describe: 'How often a process is ended in its work' },
    from: { type: 'number', default: 1, describe: 'The first seed; each job has one' },
    signal: { choices: ['SIGKILL', 'SIGTERM'] as const, default: 'SIGKILL' as const },
    'at-once': { type: 'number', default: 3, describe: 'How many jobs at once, each with a sandbox of its own' },
    command: { type: 'string', default: 'dist/cli.js', describe: 'The built command' },
  })
  .strict()
  .parseAsync();

const startMs = performance.now();
const done = await soakMany({ command: resolve(command), kills, killsAJob: KILLS_A_JOB, from, signal, atOnce });
const seconds = (performance.now() - startMs) / 1000;

for (const { seed, message } of done.failures) {
  process.stdout.write(
    `seed ${seed}: ${message}\n  the same job and moments: npm run test:kill -- --from ${seed} --kills ${KILLS_A_JOB} --at-once 1 --signal ${signal}\n`,
  );
}
process.stdout.write(
  `${done.kills} times ${signal}; ${done.jobs} jobs of ${done.rows} rows, ${done.requests} requests: ${done.failures.length} failed; ` +
    `${done.inDoubt} rows in doubt, each of a request that was open; the slowest end took ${done.slowestEndMs.toFixed(0)} ms\n` +
    `${seconds.toFixed(1)} s, ${(done.kills / seconds).toFixed(2)} a second\n`,
);
process.exitCode = done.failures.length === 0 ? 0 : 1;
