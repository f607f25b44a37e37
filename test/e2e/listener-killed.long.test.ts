import { randomInt } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { StoredEvent } from '../../src/listen/event-file.js';
import { RECEIPTS_FILE } from '../../src/plan/format/plan-file.js';
import type { Summary } from '../../src/report/summary.js';
import { eventsIn } from '../listen/a-listener.js';
import { settle } from '../sandbox/gateway/gateway-client.js';
import { numbersOf, people } from './a-job.js';
import { aWorkspaceBeside, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';
import { type Running, until } from './command.js';

test('120 messages, the listener of their run killed four times: each receipt is kept once, and deliveries.csv has each message once', async () => {
  const workspace = await aWorkspaceBeside({ webhookRetryScale: 0.1 });
  workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 2 });
  const port = await aPortToComeBackTo();
  workspace.write('people.csv', people(120));
  workspace.change({ service: { dlrCallbackUrl: `http://127.0.0.1:${port}/` } });
  const directory = await workspace.plan();
  const listener = new ListenerProcess(workspace, directory, port);
  await listener.start();

  const applying = workspace.volley('apply', directory);
  for (const events of [40, 140]) {
    expect((await listener.killAfter(events)).length).toBeLessThan(240);
    appendFileSync(listener.file, '{"format":1,"receivedAt":"2026-11-21T12:0');
    await listener.start();
  }
  const { code, summary } = await applying;
  expect([code, summary.balance.inDoubt]).toEqual([3, 10]);
  expect(await settle(workspace.client)).toMatchObject({ delivered: 240, givenUp: 0 });
  await listener.kill();
  await listener.start();
  // Then it writes the outputs again, and the next one does what it did not come to.
  await until(() => readFileSync(join(directory, 'journal.ndjson'), 'utf8').includes('"type":"settle"'));
  await listener.kill();
  await listener.start();
  expect((await listener.stop()).runs).toMatchObject([{ directory, deliveries: { delivered: 120 }, foreign: 0 }]);
  const sent = await workspace.sms();
  const kept = listener.events().map(({ id }) => id.split(':', 3).join(':'));
  const states = sent.flatMap(({ umid }) => [`receipt:${umid}:sent`, `receipt:${umid}:delivered`]);
  expect(kept.sort()).toEqual(states.sort());
  const umidOf = new Map(sent.map(({ destination, umid }) => [destination, umid]));
  const deliveries: object[] = parse(readFileSync(join(directory, 'deliveries.csv')), { columns: true });
  expect(deliveries).toMatchObject(
    numbersOf(120).map((mobile) => ({ mobile, _umid: umidOf.get(mobile), _state: 'delivered' })),
  );
  expect(sent).toHaveLength(120);
  expect(await workspace.told('run', 'job.yaml')).toMatchObject({ state: 'nothing-new' });
  expect(workspace.requests()).toHaveLength(12);
  const settled: Summary = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
  expect(settled).toMatchObject({ exitCode: 0, balance: { accepted: 120, inDoubt: 0 } });
  expectEveryRowOnce(settled);
});

/** `volley listen --receipts` at one address, however often its process is killed. */
class ListenerProcess {
  readonly file: string;
  readonly #spawn: () => Running;
  #running: Running | undefined;

  constructor(workspace: Workspace, directory: string, port: number) {
    this.file = join(directory, RECEIPTS_FILE);
    this.#spawn = () => workspace.start(['listen', '--port', String(port), '--receipts', 'out']);
  }

  async start(): Promise<void> {
    const running = this.#spawn();
    this.#running = running;
    const refused = running.ended.then(({ stderr }) => Promise.reject(new Error(`It does not listen: ${stderr}`)));
    await Promise.race([running.firstLine(), refused]);
  }

  async kill(): Promise<void> {
    this.#running?.signal('SIGKILL');
    expect((await this.#running?.ended)?.signal).toBe('SIGKILL');
  }

  /** Kills it once so many events are written. Gives what its file then holds. */
  async killAfter(events: number): Promise<StoredEvent[]> {
    await until(() => existsSync(this.file) && readFileSync(this.file, 'utf8').split('\n').length > events);
    await this.kill();
    return this.events();
  }

  /** Gives its totals. */
  async stop(): Promise<Record<string, unknown>> {
    this.#running?.signal('SIGTERM');
    const ended = await this.#running?.ended;
    expect([ended?.code, ended?.stderr]).toEqual([0, expect.any(String)]);
    return JSON.parse(ended?.stdout.split('\n')[1] ?? '');
  }

  /** Whole lines only. */
  events(): StoredEvent[] {
    return eventsIn(readFileSync(this.file, 'utf8'));
  }
}

/** Below those that systems give to a process that asks for any: no one gets it while the listener is dead. */
async function aPortToComeBackTo(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
