import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { simulateCluster } from './cluster/simulate-cluster.js';
import { simulate } from './simulate.js';

/** One seed of every `stride`, from `from` up to, not including, `to`. */
interface Share {
  readonly from: number;
  readonly to: number;
  readonly stride: number;
  /** Of a leader and workers over a database. */
  readonly isCluster: boolean;
}

interface SeedResult {
  readonly seed: number;
  readonly lives: number;
  readonly requests: number;
  readonly inDoubt: number;
  readonly failure: string | undefined;
}

async function simulateShare({ from, to, stride, isCluster }: Share, tell: (told: SeedResult) => void): Promise<void> {
  for (let seed = from; seed < to; seed += stride) {
    const found = await (isCluster ? simulateCluster : simulate)(seed).catch((error: Error) => ({
      lives: 0,
      requests: 0,
      inDoubt: 0,
      failure: error.message,
    }));
    tell({ failure: undefined, ...found, seed });
  }
}

/** Prints all that happened in one seed. */
async function traceSeed(seed: number, isCluster: boolean): Promise<void> {
  const { trace, failure } = await (isCluster ? simulateCluster : simulate)(seed, { keepTrace: true }).then(
    ({ trace }) => ({ trace, failure: undefined }),
    (error: Error & { trace: readonly string[] }) => ({ trace: error.trace, failure: error.message }),
  );
  process.stdout.write(`${trace.join('\n')}\nseed ${seed}: ${failure ?? 'every promise was kept'}\n`);
  process.exitCode = failure === undefined ? 0 : 1;
}

async function simulateAll({ from, seeds, isCluster }: { from: number; seeds: number; isCluster: boolean }) {
  const startMs = performance.now();
  const sum = { lives: 0, requests: 0, inDoubt: 0 };
  let failed = 0;
  const take = ({ seed, lives, requests, inDoubt, failure }: SeedResult) => {
    sum.lives += lives;
    sum.requests += requests;
    sum.inDoubt += inDoubt;
    if (failure === undefined) return;
    failed += 1;
    process.stdout.write(
      `seed ${seed}: ${failure}\n  replay: npm run simulate -- ${isCluster ? '--cluster ' : ''}--from ${seed} --seeds 1 --trace\n`,
    );
  };
  const stride = Math.min(availableParallelism(), seeds);
  const run = (first: number) =>
    new Promise<void>((resolve, reject) => {
      const share: Share = { from: first, to: from + seeds, stride, isCluster };
      const worker = new Worker(new URL(import.meta.url), { workerData: share });
      worker
        .on('message', take)
        .on('error', reject)
        .on('exit', () => resolve());
    });
  await Promise.all(Array.from({ length: stride }, (_, index) => run(from + index)));
  const seconds = (performance.now() - startMs) / 1000;
  process.stdout.write(
    `${seeds} seeds from ${from}: ${failed} failed; ${sum.lives} lives, ${sum.requests} requests, ${sum.inDoubt} rows in doubt; ` +
      `${seconds.toFixed(1)} s, ${(seeds / seconds).toFixed(0)} seeds/s\n`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
}

if (isMainThread) {
  const { from, seeds, trace, cluster } = await yargs(hideBin(process.argv))
    .usage('npm run simulate -- [options]')
    .options({
      seeds: { type: 'number', default: 10_000, describe: 'How many jobs' },
      from: { type: 'number', default: 1, describe: 'The first seed' },
      cluster: { type: 'boolean', default: false, describe: 'Jobs over a database, with workers' },
      trace: { type: 'boolean', default: false, describe: 'Prints all that happens in the first seed' },
    })
    .strict()
    .parseAsync();
  await (trace ? traceSeed(from, cluster) : simulateAll({ from, seeds, isCluster: cluster }));
} else {
  await simulateShare(workerData as Share, (told) => parentPort?.postMessage(told));
}
