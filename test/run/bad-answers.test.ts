import { describe, expect, it } from 'vitest';
import { describeRunEnd } from '../../src/command/failure.js';
import { assertNotRefused } from '../../src/run/checks-before.js';
import type { AttemptNote } from '../../src/run/run-deps.js';
import {
  aContactsStep,
  aCsvOf,
  aFolder,
  aJob,
  anSmsStep,
  aPlan,
  aPlanOfBatches,
  aService,
  someLimits,
} from '../plan/a-plan.js';
import { aRun, aScriptedService, batchAnswer, entriesOf, failure, reportOf, response, type Script } from './a-run.js';

const files = aFolder({ 'people.csv': aCsvOf(300) });

/** Four batches, of 10, 100, 100 and 90, one after the other. */
async function sendThrough(script: Script) {
  const step = anSmsStep({ batchSize: 100, limits: someLimits({ concurrency: 1 }) });
  const made = await aPlan({ files, job: { steps: [step] } });
  const service = aScriptedService(script);
  const run = await aRun({ made, service });
  return { made, service, ...run, summary: await reportOf(made) };
}
/** The service's own error. */
const OWN = { code: 2000, message: 'Busy', errorId: 'e' };
const once =
  (answer: ReturnType<Script>): Script =>
  (_sent, count) =>
    count === 1 ? answer : undefined;

describe('429 and 503', () => {
  it.each([429, 503])(
    '%i pauses the lane as long as Retry-After says, slows it down, and sends again',
    async (status) => {
      const { lane, service, summary } = await sendThrough(once(response(status, OWN, { 'retry-after': '7' })));
      expect(lane).toMatchObject({ pausesMs: [7000], slowed: 1 });
      expect(service.sent).toHaveLength(5);
      expect(new Set(service.sent.map(({ clientBatchId }) => clientBatchId)).size).toBe(4);
      expect(summary.balance).toMatchObject({ accepted: 300, inDoubt: 0 });
    },
  );

  it('read Retry-After as a date too', async () => {
    const date = new Date(1_800_000_000_000 + 9000).toUTCString();
    expect((await sendThrough(once(response(429, OWN, { 'retry-after': date })))).lane.pausesMs).toEqual([9000]);
  });

  it('without Retry-After pause longer each time in a row', async () => {
    const own = response(503, OWN);
    const { lane } = await sendThrough((_sent, count) => (count <= 4 ? own : undefined));
    expect(lane.pausesMs).toHaveLength(4);
    expect(lane.pausesMs).toEqual(lane.pausesMs.toSorted((a, b) => a - b));
    expect(lane.pausesMs[3]! / lane.pausesMs[0]!).toBeGreaterThan(4);
  });

  it('with a Retry-After beyond what the job waits stop the run at once', async () => {
    const { end, service, summary } = await sendThrough(once(response(503, OWN, { 'retry-after': '3600' })));
    expect(end).toEqual({ reason: 'unavailable', detail: 'HTTP 503, and asks to come back in 3600 s' });
    expect(service.accepted.length + summary.balance.unprocessed).toBe(300);
    expect(summary.exitCode).toBe(75);
  });
});

describe('a service that is not there', () => {
  it('is tried until the run gives up as unavailable; nothing is in doubt', async () => {
    const { end, summary, lane, service } = await sendThrough(() => failure(false, 'ECONNREFUSED'));
    expect(end).toEqual({ reason: 'unavailable', detail: 'ECONNREFUSED', fault: 'unreachable' });
    expect(summary.balance).toMatchObject({ unprocessed: 300, inDoubt: 0 });
    expect(summary).toMatchObject({ state: 'stopped', exitCode: 75 });
    expect(service.sent.length).toBeGreaterThan(5);
    expect(lane.pausesMs.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(
      aService().giveUpAfterSeconds * 1000,
    );
  });

  it('and comes back is used again', async () => {
    const { end, summary } = await sendThrough((_sent, count) =>
      count <= 12 ? failure(false, 'ECONNREFUSED') : undefined,
    );
    expect(end.reason).toBe('finished');
    expect(summary.balance).toMatchObject({ accepted: 300 });
  });

  it('but may have taken every request: few are put in doubt before the run gives up', async () => {
    const made = await aPlanOfBatches(300, { batchSize: 3 });
    const service = aScriptedService(() => failure(true));
    expect((await aRun({ made, service })).end).toMatchObject({ reason: 'unavailable' });
    expect(service.sent.length).toBeLessThanOrEqual(10);
    const { balance } = await reportOf(made);
    expect(balance).toMatchObject({ inDoubt: service.sent.length * 3, unprocessed: 300 - balance.inDoubt });
  });
});

describe('an answer that was lost', () => {
  it.each([500, 502, 504])('HTTP %i puts the batch in doubt, and it is not sent again', async (status) => {
    const { service, summary } = await sendThrough(once(response(status, {})));
    expect(service.sent.flatMap(({ rows }) => rows).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 300 }, (_, row) => row),
    );
    expect(summary).toMatchObject({ balance: { accepted: 290, inDoubt: 10 }, exitCode: 3 });
  });

  it('of a contact sends it again', async () => {
    const made = await aPlan({ job: { steps: [aContactsStep()] } });
    const service = aScriptedService(once(failure(true)));
    await aRun({ made, service });
    expect(service.sent).toHaveLength(4);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 3, inDoubt: 0 });
  });
});

it.each([
  [401, 'unauthorized'],
  [403, 'unauthorized'],
])(
  'an answer that a person must look at HTTP %i stops the run; rows without an answer stay unprocessed',
  async (status, reason) => {
    const { end, summary, service } = await sendThrough((_sent, count) =>
      count === 1 ? undefined : response(status, OWN),
    );
    const why = `HTTP ${status}: ${OWN.message}`;
    expect(end).toEqual({ reason, detail: `the API key of sms is wrong or not of this account (${why})` });
    expect(service.accepted).toHaveLength(10);
    expect(summary).toMatchObject({ exitCode: 4, balance: { accepted: 10, unprocessed: 290, inDoubt: 0 } });
  },
);

describe('an answer of something in between', () => {
  it.each([400, 401, 403, 404, 406, 413, 422, 429, 503])(
    'HTTP %i puts the batch in doubt, with Retry-After or without, and it is not sent again',
    async (status) => {
      for (const headers of [{}, { 'retry-after': '7' }] as const) {
        const { made, summary, service } = await sendThrough(once(response(status, '<html>', headers)));
        const [first] = service.sent;
        const isStop = [401, 403].includes(status);
        expect(summary.exitCode).toBe(isStop ? 4 : 3);
        expect(summary.balance).toMatchObject({ inDoubt: 10, accepted: isStop ? 0 : 290, rejected: 0 });

        const healed = aScriptedService();
        await aRun({ made, service: healed, epoch: 2 });
        const rows = [...service.sent.slice(1), ...healed.sent].flatMap((sent) => sent.rows);
        expect(rows.filter((row) => first!.rows.includes(row))).toEqual([]);
        expect((await reportOf(made)).balance).toMatchObject({ accepted: 290, inDoubt: 10 });
      }
    },
  );

  it.each([401, 403])('HTTP %i stops the run, which says that it is not the service that refuses', async (status) => {
    const { end, summary } = await sendThrough(once(response(status, '<html>')));
    const why = `HTTP ${status} without the service's error body: something in between refuses requests, or the base address is wrong`;
    expect(end).toEqual({ reason: 'unauthorized', detail: why, fault: 'in-between' });
    expect(describeRunEnd(summary).error?.hint).toMatch(/^Check service\.bases, and what stands between/);
  });

  it.each([429, 503])('HTTP %i pauses the lane as long as Retry-After says, and slows it down', async (status) => {
    const { lane } = await sendThrough(once(response(status, '<html>', { 'retry-after': '7' })));
    expect(lane).toMatchObject({ pausesMs: [7000], slowed: 1 });
  });
});

it.each([301, 302, 303, 307, 308])(
  'an answer that points elsewhere HTTP %i puts the batch in doubt and stops the run; the next run does not send it again',
  async (status) => {
    const { end, made, summary, service } = await sendThrough(once(response(status, {})));
    expect(end).toEqual({ reason: 'redirected', detail: `HTTP ${status} from the service` });
    const { inDoubt } = summary.balance;
    expect(inDoubt).toBe(service.sent[0]!.rows.length);
    expect(summary.exitCode).toBe(4);
    const healed = aScriptedService();
    await aRun({ made, service: healed, epoch: 2 });
    expect(healed.sent.flatMap(({ rows }) => rows).filter((row) => service.sent[0]!.rows.includes(row))).toEqual([]);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 300 - inDoubt, inDoubt });
  },
);

describe('a 2xx answer', () => {
  it('of which a part is missing puts that part in doubt, and the run continues', async () => {
    const { summary, end } = await sendThrough((sent, count) => {
      const answer = batchAnswer(sent);
      return count === 1 ? response(200, { ...answer, messages: answer.messages.slice(1) }) : undefined;
    });
    expect(end.reason).toBe('finished');
    expect(summary.balance).toMatchObject({ accepted: 299, inDoubt: 1 });
  });

  it('that mostly rejects stops the run by maxFailedPercent, once a hundred rows are answered', async () => {
    const rejectAll: Script = (sent) => {
      const { messages, ...answer } = batchAnswer(sent);
      const status = { code: 'REJECTED', description: 'Text value is missing' };
      return response(200, { ...answer, messages: messages.map((each) => ({ ...each, status })) });
    };
    const guards = { ...aJob().guards, maxFailedPercent: 50 };
    const made = await aPlanOfBatches(300, { batchSize: 60, job: { guards } });
    const { end } = await aRun({ made, service: aScriptedService(rejectAll) });
    expect(end.reason).toBe('guard');
    expect(end.detail).toMatch(/ 130 of 130 rows.*, more than maxFailedPercent 50$/);
    const summary = await reportOf(made);
    expect(summary.exitCode).toBe(4);
    expect(summary.balance.rejected).toBeGreaterThanOrEqual(100);
    expect(summary.balance.unprocessed).toBeGreaterThan(0);

    // The same command again costs nothing, until the job allows more.
    const resume = (maxFailedPercent: number) =>
      assertNotRefused(made.disk.files, made, { ...guards, maxFailedPercent });
    await expect(resume(99)).rejects.toThrow(/130 of 130 rows, more than maxFailedPercent 99$/);
    await resume(100);
    // The person who applies it has looked at those rows: they count no more, and the guard begins anew.
    const { end: later } = await aRun({ made, service: aScriptedService(() => undefined), epoch: 2 });
    expect(later.reason).toBe('finished');
  });
});

it('several steps are sent one after the other, each through a lane with its limits', async () => {
  const steps = [aContactsStep({ limits: someLimits({ requestsPerSecond: 3 }) }), anSmsStep()];
  const made = await aPlan({ job: { steps } });
  const service = aScriptedService();
  const { lane } = await aRun({ made, service });
  const expected = [...Array(3).fill('/accounts/acme/contacts'), '/api/v1/subaccounts/acme_hq/messages/batch'];
  expect(service.sent.map(({ path }) => path)).toEqual(expected);
  expect(lane.options.map(({ limits }) => limits.requestsPerSecond)).toEqual([3, 50]);
  expect(entriesOf(made.disk, made.directory).at(-1)).toMatchObject({ type: 'close', reason: 'finished' });
});

it('a contact that fails alone is held after three answers that say nothing, and the run comes to its end', async () => {
  const step = aContactsStep({ limits: someLimits({ concurrency: 1 }) });
  const made = await aPlan({ files: { 'people.csv': aCsvOf(12) }, job: { steps: [step] } });
  const service = aScriptedService((sent) =>
    JSON.stringify(sent.body).includes('+6590000003') ? response(500, { code: 2000 }) : undefined,
  );
  const { end } = await aRun({ made, service });
  const { balance } = await reportOf(made);
  expect(end.reason).toBe('finished');
  expect(balance).toMatchObject({ accepted: 11, inDoubt: 1 });
  expect(service.sent).toHaveLength(11 + 3);
});

it('each attempt is noted, and whether the breaker is open after it', async () => {
  const made = await aPlanOfBatches(20, { batchSize: 10 });
  const service = aScriptedService((_sent, count) => (count > 1 && count <= 7 ? response(503, OWN) : undefined));
  const noted: AttemptNote[] = [];

  await aRun({ made, service, deps: { onAttempt: (attempt) => noted.push(attempt) } });

  expect((await reportOf(made)).balance).toMatchObject({ accepted: 20 });
  expect(noted.map(({ step, kind }) => [step, kind])).toEqual(noted.map(() => [1, 'sms']));
  expect(noted.map(({ isBreakerOpen }) => isBreakerOpen)).toEqual([...Array(5).fill(false), true, true, false]);
});
