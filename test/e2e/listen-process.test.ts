import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventsIn } from '../listen/a-listener.js';
import { aGatewayEvent } from '../listen/events.js';
import { Running, until } from './command.js';
import { readFailure } from './failure.js';

/** A directory for the file of events, and the command that listens for it. */
function aDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'volley-listen-'));
  const started: Running[] = [];
  onTestFinished(async () => {
    for (const running of started) running.signal('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
    rmSync(directory, { recursive: true, force: true });
  });
  const output = join(directory, 'events.ndjson');
  const start = () => {
    const running = new Running(['listen', '--port', '0', '--output', output], {
      cwd: directory,
      env: { PATH: process.env.PATH ?? '' },
    });
    started.push(running);
    return running;
  };
  const listen = async () => {
    const running = start();
    const { origin } = JSON.parse(await running.firstLine());
    return { running, origin: String(origin) };
  };
  return { output, start, listen, ids: () => eventsIn(readFileSync(output, 'utf8')).map(({ id }) => id) };
}

/** Delivers as the service does: each event again and again until it is answered 2xx. */
class Sender {
  readonly acknowledged = new Set<string>();
  readonly pending: Set<string>;
  readonly #agent = new Agent({ connections: 16 });

  constructor(count: number) {
    this.pending = new Set(Array.from({ length: count }, (_, index) => `e${index}`));
    onTestFinished(() => this.#agent.destroy());
  }

  /** Once each, sixteen at a time; what is not answered 2xx stays pending. */
  async deliver(origin: string, ids: readonly string[] = [...this.pending]): Promise<void> {
    await Promise.all(
      ids.map(async (id) => {
        const status = await this.#post(origin, id).catch(() => 0);
        if (status !== 200) return;
        this.acknowledged.add(id);
        this.pending.delete(id);
      }),
    );
  }

  async #post(origin: string, id: string): Promise<number> {
    const answer = await request(origin, {
      method: 'POST',
      dispatcher: this.#agent,
      headers: { 'x-8x8-event-id': id },
      body: JSON.stringify(aGatewayEvent()),
    });
    await answer.body.dump();
    return answer.statusCode;
  }
}

describe('volley listen, in a process of its own', () => {
  test('killed twice: nothing that was acknowledged is lost, nothing is there twice', async () => {
    const { output, listen, ids } = aDirectory();
    const sender = new Sender(600);
    for (const isTorn of [false, true]) {
      const { running, origin } = await listen();
      const before = sender.acknowledged.size;
      const delivering = sender.deliver(origin);
      await until(() => sender.acknowledged.size >= before + 30);
      running.signal('SIGKILL');
      expect((await running.ended).signal).toBe('SIGKILL');
      await delivering;
      expect(ids()).toEqual(expect.arrayContaining([...sender.acknowledged].map((id) => `event:${id}`)));
      if (isTorn) appendFileSync(output, '{"format":1,"receivedAt":"2026-11-21T12:0');
    }
    expect(sender.pending.size).toBeGreaterThan(0);

    const { running, origin } = await listen();
    await sender.deliver(origin);
    await sender.deliver(origin, [...sender.acknowledged]);
    expect(sender.pending.size).toBe(0);
    running.signal('SIGTERM');
    const { code, stdout, stderr } = await running.ended;

    expect(code).toBe(0);
    expect(stderr).toContain('cut off');
    const written = ids();
    expect(written).toHaveLength(600);
    expect(new Set(written)).toEqual(new Set([...sender.acknowledged].map((id) => `event:${id}`)));
    const totals = JSON.parse(stdout.split('\n')[1] ?? '');
    expect(totals.duplicates + totals.written).toBe(totals.received);
  });

  test('stopped by SIGTERM in the middle of events: exit 0, and in the file is what was acknowledged', async () => {
    const { listen, ids } = aDirectory();
    const sender = new Sender(300);
    const { running, origin } = await listen();
    const delivering = sender.deliver(origin);
    await until(() => sender.acknowledged.size >= 50);
    running.signal('SIGTERM');
    await delivering;
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(new Set(ids())).toEqual(new Set([...sender.acknowledged].map((id) => `event:${id}`)));
    expect(JSON.parse(stdout.split('\n')[1] ?? '')).toMatchObject({ written: sender.acknowledged.size });
  });

  test('started twice on one file: the second refuses with exit 75 and names the first', async () => {
    const { start, listen } = aDirectory();
    const first = await listen();
    const ended = await start().ended;
    expect(readFailure(ended)).toMatchObject({ exitCode: 75, error: { code: 'lock-held' } });
    expect(ended.stderr).toMatch(/Cannot listen: process \d+ writes to .*events\.ndjson/);
    first.running.signal('SIGINT');
    expect((await first.running.ended).code).toBe(0);
    const { running } = await listen();
    running.signal('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });
});
