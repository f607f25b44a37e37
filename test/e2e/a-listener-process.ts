import { randomInt, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import type { StoredEvent } from '../../src/listen/event-line.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { eventsIn } from '../listen/a-listener.js';
import { Workspace } from './a-workspace.js';
import { type Running, until } from './command.js';

/** A workspace whose sandbox is impatient with webhooks, and every id that this sandbox made; gone when the test is over. */
export async function aWorkspaceWithWebhooks(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  webhookRetryScale: number,
): Promise<{ workspace: Workspace; madeIds: readonly string[] }> {
  const madeIds: string[] = [];
  const newId = () => {
    const id = randomUUID();
    madeIds.push(id);
    return id;
  };
  const sandbox = await startSandbox({ rateLimits: false, webhookRetryScale, newId });
  const workspace = new Workspace(mkdtempSync(join(tmpdir(), 'volley-e2e-')), sandbox);
  onTestFinished(() => workspace.close());
  return { workspace, madeIds };
}

/** `volley listen` at one address and with one file, however often its process is killed. */
export class ListenerProcess {
  readonly url: string;
  readonly file: string;
  readonly #spawn: () => Running;
  #running: Running | undefined;

  /** `target` is `--output FILE` or `--run DIR`, `file` what it then writes. */
  constructor(
    workspace: Workspace,
    { port, target, file }: { port: number; target: readonly [string, string]; file: string },
  ) {
    this.url = `http://127.0.0.1:${port}/`;
    this.file = file;
    this.#spawn = () => workspace.start(['listen', '--port', String(port), '--json', ...target]);
  }

  async start(): Promise<Running> {
    const running = this.#spawn();
    this.#running = running;
    const refused = running.ended.then(({ stderr }) => Promise.reject(new Error(`It does not listen: ${stderr}`)));
    await Promise.race([running.firstLine(), refused]);
    return running;
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

  /** Starts it again on a file that ends in `tail`, as after a write that was cut short. */
  async startAfterTear(tail: string | Uint8Array): Promise<void> {
    appendFileSync(this.file, tail);
    const running = await this.start();
    if (tail.length > 0) await running.says('cut off');
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
    return existsSync(this.file) ? eventsIn(readFileSync(this.file, 'utf8')) : [];
  }
}

/** Below those that systems give to a process that asks for any: no one gets it while the listener is dead. */
export async function aPortToComeBackTo(): Promise<number> {
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
