import { type Place, type Soaked, type SoakOptions, soak } from './soak.js';

export interface SoakedMany {
  readonly kills: number;
  readonly jobs: number;
  readonly places: Readonly<Record<Place, number>>;
  readonly garbage: number;
  readonly requests: number;
  readonly rows: number;
  readonly inDoubt: number;
  readonly slowestEndMs: number;
  readonly failures: readonly { readonly seed: number; readonly message: string }[];
}

export interface SoakManyOptions extends Omit<SoakOptions, 'seed'> {
  /** Of the first job; each job has one. */
  readonly from: number;
  readonly killsAJob: number;
  /** Jobs at once, each with a sandbox of its own. */
  readonly atOnce: number;
}

/** Soaks one job after the other until there were so many kills. */
export async function soakMany(options: SoakManyOptions): Promise<SoakedMany> {
  const { kills, from, killsAJob, atOnce } = options;
  const soaked: Soaked[] = [];
  const failures: { seed: number; message: string }[] = [];
  let left = kills;
  let nextSeed = from;
  const soakOneByOne = async () => {
    while (left > 0) {
      const share = Math.min(left, killsAJob);
      const seed = nextSeed++;
      left -= share;
      try {
        const done = await soak({ ...options, seed, kills: share });
        soaked.push(done);
        // A job that came to its end before its last kill leaves the others to the next one.
        left += share - done.kills;
      } catch (error) {
        failures.push({ seed, message: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, soakOneByOne));
  const sum = (count: (one: Soaked) => number) => soaked.reduce((total, one) => total + count(one), 0);
  return {
    kills: sum((one) => one.kills),
    jobs: soaked.length,
    places: {
      'before its lock': sum(({ places }) => places['before its lock']),
      planning: sum(({ places }) => places.planning),
      sending: sum(({ places }) => places.sending),
      reporting: sum(({ places }) => places.reporting),
    },
    garbage: sum((one) => one.garbage),
    requests: sum((one) => one.requests),
    rows: sum((one) => one.rows),
    inDoubt: sum((one) => one.inDoubt),
    slowestEndMs: Math.max(0, ...soaked.map((one) => one.slowestEndMs)),
    failures,
  };
}
