import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/cluster/postgres/database.js';
import type { TurnsAsked } from '../../src/cluster/store.js';
import { askingFor } from './a-hand.js';
import { NEW_LEAD } from './a-run.js';
import { bookTurns, type LaneRow } from './lane-rule.js';
import { aDatabase } from './postgres-server.js';

let opened: Awaited<ReturnType<typeof aDatabase>>;
let database: Database;
beforeAll(async () => {
  opened = await aDatabase();
  ({ database } = opened);
});

const cost = fc.oneof(fc.double({ min: 0.001, max: 500, noNaN: true }), fc.constantFrom(0, 5, 40, 1006, 60_000));
const ask: fc.Arbitrary<TurnsAsked> = fc.record({
  costsMs: fc.array(cost, { maxLength: 6 }),
  urgent: fc.nat({ max: 3 }),
  slackMs: fc.oneof(fc.double({ min: 0.001, max: 300, noNaN: true }), fc.constantFrom(0, 6)),
  leadMs: fc.oneof(fc.double({ min: 0.001, max: 900, noNaN: true }), fc.constant(0)),
  slowed: fc.boolean(),
  succeeded: fc.boolean(),
  leastShare: fc.constantFrom(0.01, 0.1, 1),
  pauseMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ max: 90_000 }) }),
});
const call = fc.record({
  ask,
  passedMs: fc.oneof(fc.double({ min: 0, max: 300, noNaN: true }), fc.constantFrom(0, 1000, 5_000, 100_000, -200_000)),
  life: fc.constantFrom('one', 'one', 'one', 'two'),
});

test('the function of the database is the rule of lane-rule.ts, in any history', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 25 }), async (calls) => {
      let nowMs = 1_800_000_000_000;
      let row: LaneRow | undefined;
      let known: unknown = null;
      for (const { ask: asked, passedMs, life } of calls) {
        nowMs += passedMs;
        const expected = bookTurns(row, asked, { life, nowMs });
        row = expected.row;
        expect(row.share).toBeGreaterThan(0);
        expect(row.share).toBeLessThanOrEqual(1);
        const { costsMs, urgent, slackMs, leadMs, slowed, succeeded, leastShare, pauseMs } = asked;
        const [found] = await database.query(
          `select (b.lane)::text as known, (b.lane).*, in_ms, again_in_ms
           from volley.book_turns($1::text::volley.lane, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) b`,
          [known, life, nowMs, costsMs, urgent, slackMs, leadMs, slowed, succeeded, leastShare, pauseMs],
        );
        known = found!.known;
        // Its columns are named as the fields are: turn_ms for turnMs.
        const { inMs: in_ms, againInMs: again_in_ms } = expected.booked;
        const columns = Object.entries(row).map(([field, value]) => [
          field.replace(/[A-Z]/g, '_$&').toLowerCase(),
          value,
        ]);
        expect(columns).toHaveLength(11);
        expect(found).toMatchObject({ ...Object.fromEntries(columns), in_ms, again_in_ms });
      }
    }),
    { numRuns: 60 },
  );
});

const ROUNDS = 20;

test('a turn is booked without waiting for the disk, and nothing else is, whatever the database says', async () => {
  await database.query(`alter database ${opened.name} set synchronous_commit = off`);
  const store = await opened.connect();
  // Of the log, what is written and not synced; the server itself may write a little at any time.
  const countUnsynced = async (change: (round: number) => Promise<unknown>) => {
    let count = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await change(round);
      const [row] = await database.query(
        'select pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn() as is_unsynced',
      );
      if (row?.is_unsynced === true) count += 1;
    }
    return count;
  };
  const asked = askingFor([10]);
  expect(await countUnsynced(() => store.book('lane', asked))).toBeGreaterThan(ROUNDS / 2);
  const beat = (round: number) =>
    store.beat('w', { name: 'host', leaseMs: 1000 + round, life: undefined, sent: undefined });
  expect(await countUnsynced(beat)).toBeLessThan(ROUNDS / 2);
  for (let round = 0; round < ROUNDS; round += 1) {
    await store.lead({ run: `run-${round}`, epoch: 1 }, NEW_LEAD);
    await store.beat(`w${round}`, { name: 'host', leaseMs: 30_000, life: undefined, sent: undefined });
  }
  const stop = { reason: 'guard', detail: '' } as const;
  expect(await countUnsynced((round) => store.askToStop({ run: `run-${round}`, epoch: 1 }, stop))).toBeLessThan(
    ROUNDS / 2,
  );
  expect(await countUnsynced((round) => store.recover(`w${round}`))).toBeLessThan(ROUNDS / 2);
});
