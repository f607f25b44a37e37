import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/service/answer.js';
import { aCsvOf, aFolder, anSmsStep, aPlan, aService, linesOf, someLimits } from '../plan/a-plan.js';
import { aRun, aScriptedService, batchAnswer, duplicatesAmong, entriesOf, reportOf, response } from './a-run.js';

/** In requests of 10, 100, and twelve times 1,000. */
const ROWS = 12_110;
const files = aFolder({ 'people.csv': aCsvOf(ROWS) });
const TEXT = 'upstream connect error or disconnect/reset before headers. reset reason: connection termination';
const PROXY: Answer = { kind: 'response', status: 503, headers: {}, body: Buffer.from(TEXT) };

const planOf = (concurrency: number) =>
  aPlan({ files, job: { steps: [anSmsStep({ limits: someLimits({ concurrency }) })] } });

/**
 * A service behind a proxy. In an outage, which lasts for so many requests, it takes each batch, and the proxy says 503. Requests
 * are answered in the order in which they came, so that as many are in flight as may be.
 */
function aServiceBehindAProxy({ from, requests }: { from: number; requests: number }) {
  const taken: string[] = [];
  const service = aScriptedService(async (sent, count) => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    taken.push(...(sent.body.messages ?? []).map(({ clientMessageId }) => clientMessageId));
    return count >= from && count < from + requests ? PROXY : response(200, batchAnswer(sent));
  });
  return { ...service, taken };
}

describe('an outage behind a proxy that says 503 after the service took the batch', () => {
  it.each([
    // Requests in flight, the first request that meets the outage, for how many requests; rows in doubt, and how the run ends.
    ['at the start, for good', 1, 1, 1e9, 54, 'unavailable'],
    ['at the start, with eight in flight, for good', 8, 1, 1e9, 54, 'unavailable'],
    ['in the middle, for good', 1, 6, 1e9, 1055, 'unavailable'],
    ['in the middle, for one request', 1, 6, 1, 1000, 'finished'],
    ['in the middle, for five requests', 1, 6, 5, 1032, 'finished'],
  ])('%s: how many rows it puts in doubt', async (_, concurrency, from, requests, rows, end) => {
    const made = await planOf(concurrency);
    const service = aServiceBehindAProxy({ from, requests });
    const run = await aRun({ made, service });
    const { balance } = await reportOf(made);
    expect({ inDoubt: balance.inDoubt, end: run.end.reason }).toEqual({ inDoubt: rows, end });
    expect(duplicatesAmong(service.taken)).toEqual([]);
    expect(balance.accepted + balance.inDoubt).toBe(service.taken.length);
  });

  it('in the middle, with eight in flight: what was in flight when it began, and rows of probes', async () => {
    const made = await planOf(8);
    await aRun({ made, service: aServiceBehindAProxy({ from: 6, requests: 1e9 }) });
    const { inDoubt } = (await reportOf(made)).balance;
    expect(inDoubt % 1000).toBe(55);
    expect(inDoubt).toBeLessThanOrEqual(8055);
  });

  it('costs each resumed run ten rows a probe, and no batch', async () => {
    const made = await planOf(8);
    const service = aServiceBehindAProxy({ from: 6, requests: 1e9 });
    await aRun({ made, service });
    const before = (await reportOf(made)).balance.inDoubt;
    await aRun({ made, service, epoch: 2 });
    const { inDoubt } = (await reportOf(made)).balance;
    expect(inDoubt - before).toBeGreaterThan(0);
    expect(inDoubt - before).toBeLessThanOrEqual(80);
    expect(duplicatesAmong(service.taken)).toEqual([]);

    const healed = aServiceBehindAProxy({ from: 1, requests: 0 });
    expect((await aRun({ made, service: healed, epoch: 3 })).end.reason).toBe('finished');
    expect((await reportOf(made)).balance).toMatchObject({ accepted: ROWS - inDoubt, inDoubt, unprocessed: 0 });
    expect(duplicatesAmong([...service.taken, ...healed.taken])).toEqual([]);
  });

  it('is believed to have processed nothing where the job says so', async () => {
    const made = await planOf(1);
    const service = aScriptedService((_sent, count) => (count === 6 ? PROXY : undefined));
    await aRun({ made, service, job: { service: aService({ trustUnavailable: true }) } });
    expect((await reportOf(made)).balance).toMatchObject({ accepted: ROWS, inDoubt: 0 });
  });

  it('sends parts that stand in the journal, each with its intent, and nothing under the intent that was split', async () => {
    const made = await planOf(1);
    const service = aServiceBehindAProxy({ from: 6, requests: 1 });
    await aRun({ made, service });
    const entries = entriesOf(made.disk, made.directory);
    expect(service.sent[6]!.rows).toHaveLength(8);
    const split = entries.flatMap((entry) =>
      entry.type === 'outcome' && entry.result.kind === 'split' ? [entry] : [],
    );
    expect(split.map(({ part }) => part)).toEqual(['', '0', '00', '000', '0000', '00000', '000000']);
    expect(new Set(split.map(({ request }) => request)).size).toBe(1);
    await reportOf(made);
    const sentIds = service.sent.map(({ clientBatchId }) => clientBatchId);
    expect(new Set(sentIds).size).toBe(sentIds.length);
    expect(linesOf(made.disk.readText(`${made.directory}/1-sms.in-doubt.csv`))).toHaveLength(1001);
  });
});
