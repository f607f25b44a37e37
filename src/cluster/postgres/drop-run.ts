import { UserError } from '../../domain/errors.js';
import { type LeadKey, LeadLost } from '../store.js';
import type { Database } from './database.js';
import { countRowsInDoubt } from './read-status.js';
import { isLed } from './schema/worker-functions.js';

/**
 * Deletes all of a run once workers send nothing of it any more: nothing begins from the first call on, and what is under way ends, or
 * its worker's lease does. `onWaiting`: once, with how many requests that are.
 */
export async function dropRun(
  database: Database,
  { run, epoch }: LeadKey,
  onWaiting?: (underWay: number) => void,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const [row] = await database.call<{ dropRun: number }>('drop_run', run, epoch);
    const { dropRun: underWay = 0 } = row ?? {};
    if (underWay === 0) return;
    if (isFirst) onWaiting?.(underWay);
    await database.query('select pg_sleep(0.2)');
  }
}

/** Drops a run whose leader is gone. Returns how many rows are in doubt now. `onWaiting` as in `dropRun`. */
export async function dropNamedRun(
  database: Database,
  run: string,
  onWaiting: (underWay: number) => void,
): Promise<number> {
  const [led] = await database.query(
    `select epoch, not has_lost and ${isLed('run')} as is_led, to_char(lease_until at time zone 'UTC', 'HH24:MI:SS') as until
       from volley.run where id = $1`,
    [run],
  );
  const refuse = (code: 'bad-flag' | 'lock-held', what: string, hint: string) =>
    new UserError(code, `Cannot drop run ${run}: ${what}`, { hint });
  if (led === undefined)
    throw refuse(
      'bad-flag',
      'the database does not know it, expected one of its runs',
      'volley cluster status lists them.',
    );
  if (led.is_led === true) {
    const hint = `Stop that process first. If it is gone already, its lease ends at ${led.until} UTC: drop the run then.`;
    throw refuse('lock-held', 'a process leads it', hint);
  }
  // No leader takes any of it meanwhile, so what ends until then counts as well.
  const rows = await countRowsInDoubt(database, run);
  await dropRun(database, { run, epoch: Number(led.epoch) }, onWaiting).catch((error: unknown) => {
    if (!(error instanceof LeadLost)) throw error;
    const hint = 'Wait for its end, or stop it; then drop the run, if it is still there.';
    throw refuse('lock-held', 'a process has resumed it meanwhile', hint);
  });
  return rows;
}
