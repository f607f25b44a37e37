import { describe, expect, it } from 'vitest';
import { fileIdsOf } from '../../src/plan/reimport/named-rows.js';
import { aPlanOfBatches } from '../plan/a-plan.js';
import { aRun, aScriptedService, duplicatesAmong, outputOf, reportOf, response, rowsOfMessages } from './a-run.js';

/** A batch of 7, of which these rows are refused with the whole request that holds them. */
async function sendWithBad(bad: readonly number[], status = 400) {
  const made = await aPlanOfBatches(7, { batchSize: 7 });
  const service = aScriptedService(({ rows }) =>
    rows.some((row) => bad.includes(row)) ? response(status, { code: 1002, message: 'Invalid MSISDN' }) : undefined,
  );
  const { end, lane } = await aRun({ made, service });
  const summary = await reportOf(made);
  const rejected = outputOf(made, 'rejections');
  return { made, service, end, lane, summary, rejected };
}

describe('a batch that is refused as a whole', () => {
  it.each([[[3]], [[0]], [[6]], [[0, 6]], [[2, 3]], [[0, 3, 6]], [[4, 5, 6]]])(
    'with rows %j at fault is split until they stand alone; the others are accepted once',
    async (bad) => {
      const { made, service, end, summary, rejected } = await sendWithBad(bad);
      expect(end.reason).toBe('finished');
      expect(summary.balance).toMatchObject({ read: 7, accepted: 7 - bad.length, rejected: bad.length, inDoubt: 0 });
      expect(duplicatesAmong(service.accepted)).toEqual([]);
      expect(rowsOfMessages(service.accepted)).toEqual([0, 1, 2, 3, 4, 5, 6].filter((row) => !bad.includes(row)));
      expect(rejected).toEqual(
        bad.map(
          (row) =>
            `+6590${String(row).padStart(6, '0')},n${row},1,people.csv,${row + 2},${row + 1},send,,1002,Invalid MSISDN,${fileIdsOf(made.plan, made.step)[0]}-${row + 1}`,
        ),
      );
      const ids = service.sent.map(({ clientBatchId }) => clientBatchId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(summary.steps[0]?.requests).toEqual({ planned: 1, settled: 1 });
      expect(made.plan.steps[0]?.counts.requests).toBe(1);
    },
  );

  it('takes few requests more for one bad row: two for each halving', async () => {
    const { service } = await sendWithBad([6]);
    expect(service.sent.map(({ rows }) => rows)).toEqual([[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3], [4, 5, 6], [4, 5], [6]]);
  });

  it.each([400, 404, 409, 413, 422, 426])(
    'with HTTP %i is no bad sign of the service: the lane resumes',
    async (status) => {
      const { lane, summary } = await sendWithBad([3], status);
      expect(lane).toMatchObject({ pausesMs: [], slowed: 0 });
      expect(summary.balance).toMatchObject({ accepted: 6, rejected: 1 });
    },
  );

  it('and has every row at fault rejects every row', async () => {
    expect((await sendWithBad([0, 1, 2, 3, 4, 5, 6])).summary.balance).toMatchObject({ accepted: 0, rejected: 7 });
  });
});
