import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { aJob, anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

describe.concurrent('a batch that is refused', () => {
  test('is halved until the row at fault stands alone, and the others are accepted: 400, 404, 413, 422', async () => {
    const statuses = [400, 404, 413, 422] as const;
    const workspace = await aWorkspace(
      ...statuses.map((status, index): FaultInput => ({ kind: `status-${status}`, endingWith: `00${10 + 8 * index}` })),
    );
    workspace.write('people.csv', people(40));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ batchSize: 8 })] }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(1);
    expectEveryRowOnce(summary);
    const rejected = readOutput(summary, 1, 'rejections').map((row) => [row.name, row._stage, row._code]);
    expect(rejected).toEqual([
      ['P10', 'send', '1000'],
      ['P18', 'send', '1300'],
      ['P26', 'send', '1100'],
      ['P34', 'send', '1000'],
    ]);
    const refusedNumbers = [10, 18, 26, 34].map(numberOf);
    expect(await workspace.destinations()).toEqual(numbersOf(40).filter((number) => !refusedNumbers.includes(number)));
    for (const status of statuses) {
      const refused = workspace.requests().filter((request) => request.status === status);
      expect(refused.map(({ messages }) => messages)).toEqual([8, 4, 2, 1]);
    }
  });

  test('is halved while the run stops and resumes, too', async () => {
    const workspace = await aWorkspace(
      { kind: 'status-401', nth: 3 },
      { kind: 'status-400', endingWith: '006' },
      { kind: 'status-400', endingWith: '007' },
    );
    workspace.write('people.csv', people(8));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ batchSize: 8 })] }));
    expect((await workspace.run()).code).toBe(4);

    const { code, summary } = await workspace.run();

    expect(code).toBe(1);
    expectEveryRowOnce(summary);
    expect(readOutput(summary, 1, 'rejections').map((row) => row.name)).toEqual(['P6', 'P7']);
    expect(await workspace.destinations()).toEqual([...numbersOf(5), numberOf(8)]);
  });

  test("for one number's sake, by a service that takes no batch with it: its own code and words are the row's", async () => {
    const service = await aStrictService(numberOf(3));
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(10));
    workspace.writeJob(aJob(workspace, { service: { bases: { sms: service.origin } } }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(1);
    expectEveryRowOnce(summary);
    expect(readOutput(summary, 1, 'rejections')).toEqual([
      expect.objectContaining({ name: 'P3', _code: '1002', _reason: 'Invalid MSISDN format' }),
    ]);
    expect(service.accepted.sort()).toEqual(numbersOf(10).filter((number) => number !== numberOf(3)));
  });
});

describe.concurrent('a person must look', () => {
  test('401, 403, 301, 302, 307, 308: the run stops with exit 4 each time, sends nothing more, follows nothing; then it resumes', async () => {
    const statuses = [401, 403, 301, 302, 307, 308];
    const workspace = await aWorkspace(
      ...statuses.map((status, index): FaultInput => ({ kind: `status-${status}`, nth: 2 + index })),
    );
    workspace.write('people.csv', people(60));
    workspace.writeJob(aJob(workspace));
    let inDoubt = 0;

    for (const [index, status] of statuses.entries()) {
      const { code, summary } = await workspace.run();

      expect(code).toBe(4);
      expect(summary.stop?.reason).toBe(status < 400 ? 'redirected' : 'unauthorized');
      // What pointed elsewhere may have passed the request on.
      if (status < 400) inDoubt += 10;
      const balance = { accepted: 10, inDoubt, unprocessed: 50 - inDoubt };
      expect(summary).toMatchObject({ state: 'stopped', balance });
      expect(workspace.requests().map((request) => request.status)).toEqual([200, ...statuses.slice(0, index + 1)]);
    }
    expect((await workspace.run()).code).toBe(3);
    expect(new Set(workspace.requests().map(({ path }) => path)).size).toBe(1);
    expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(10, 51)]);
  });
});

/** Answers 400/1002 to any batch with the number, and takes the others. */
async function aStrictService(refused: string): Promise<{ origin: string; accepted: string[] }> {
  const accepted: string[] = [];
  const server = createServer(async (request, response) => {
    const batch = JSON.parse(await readBody(request));
    const messages: { destination: string; clientMessageId: string }[] = batch.messages;
    const isRefused = messages.some(({ destination }) => destination === refused);
    if (!isRefused) accepted.push(...messages.map(({ destination }) => destination));
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
    const rows = messages.map((message) => ({ umid: 'u', ...message, status: { code: 'QUEUED', description: 'ok' } }));
    const { clientBatchId } = batch;
    const answer = { batchId: 'b', clientBatchId, acceptedCount: rows.length, rejectedCount: 0, messages: rows };
    response.end(JSON.stringify(isRefused ? { code: 1002, message: 'Invalid MSISDN format' } : answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, accepted };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
