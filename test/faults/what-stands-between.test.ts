import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspaceInProcess, type Workspace } from '../e2e/a-workspace.js';
import { needNginx } from '../e2e/of-the-machine.js';
import { oneIn } from '../one-in.js';

const ROWS = 120;
/** Which of the requests that arrive meet what stands between. The first are probes. */
const isStruck = (number: number) => number % 4 === 0;

/** What the double does with a request, beside noting it. */
type Play = (turn: { socket: Socket; number: number; isCancel: boolean; answer: () => void }) => void;

/**
 * The SMS service as nothing but sockets: it takes each batch that arrives whole into its ledger, and then plays. It is
 * neither the sandbox nor the simulation.
 */
class Double {
  /** Of each number, how often a batch with it was taken. */
  readonly taken = new Map<string, number>();
  /** Numbers that were in each batch, by its id; without those that were taken back. */
  readonly batches = new Map<string, readonly string[]>();
  requests = 0;
  port = 0;

  static async open(play: Play): Promise<Double> {
    const double = new Double();
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        for (let end = endOfRequest(text); end !== undefined; end = endOfRequest(text)) {
          const body = text.slice(text.indexOf('\r\n\r\n') + 4, end);
          const cancelled = /^DELETE \S*\/(\S+) /.exec(text)?.[1];
          text = text.slice(end);
          double.requests += 1;
          const answer = cancelled === undefined ? double.#take(socket, body) : double.#takeBack(socket, cancelled);
          play({ socket, number: double.requests, isCancel: cancelled !== undefined, answer });
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    double.port = (server.address() as AddressInfo).port;
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return double;
  }

  get twice(): string[] {
    return [...this.taken].flatMap(([number, times]) => (times > 1 ? [number] : []));
  }

  #take(socket: Socket, body: string): () => void {
    const { clientBatchId, messages } = JSON.parse(body) as {
      clientBatchId: string;
      messages: { destination: string; clientMessageId: string }[];
    };
    for (const { destination } of messages) this.taken.set(destination, (this.taken.get(destination) ?? 0) + 1);
    this.batches.set(
      `b-${this.requests}`,
      messages.map(({ destination }) => destination),
    );
    const said = messages.map(({ destination, clientMessageId }, index) => ({
      umid: `u-${this.requests}-${index}`,
      clientMessageId,
      destination,
      status: { code: 'QUEUED', description: 'SMS is accepted' },
    }));
    const counts = { acceptedCount: said.length, rejectedCount: 0 };
    const answer = JSON.stringify({ batchId: `b-${this.requests}`, clientBatchId, ...counts, messages: said });
    return () => socket.write(write(200, answer, JSON_TYPE));
  }

  #takeBack(socket: Socket, batchId: string): () => void {
    const cancelledCount = this.batches.get(batchId)?.length ?? 0;
    this.batches.delete(batchId);
    return () => socket.write(write(200, JSON.stringify({ cancelledCount }), JSON_TYPE));
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

function endOfRequest(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const end = head + 4 + Number(/^content-length: *(\d+)/im.exec(text.slice(0, head))?.[1] ?? '0');
  return text.length < end ? undefined : end;
}

function write(status: number, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers });
  return `HTTP/1.1 ${status} As It Is\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n${body}`;
}

async function aJobTo(port: number, rows: number, more: object = {}): Promise<Workspace> {
  const workspace = await aWorkspaceInProcess();
  workspace.write('people.csv', people(rows));
  const service = { bases: { sms: `http://127.0.0.1:${port}` }, giveUpAfterSeconds: 60 };
  workspace.writeJob(aJob(workspace, { service, ...more }));
  return workspace;
}

/** Again and again, as a person does, or a schedule. */
async function runToItsEnd(workspace: Workspace): Promise<{ accepted: number; inDoubt: number }> {
  const codes: (number | null)[] = [];
  for (let run = 0; run < ROWS; run++) {
    const { code, stdout, stderr } = await workspace.run();
    codes.push(code);
    if (code === 4 || code === 75) continue;
    const { balance, inDoubt } = JSON.parse(stdout);
    if (balance === undefined) throw new Error(`no balance, and exit code ${code}: ${stderr} ${inDoubt}`);
    return balance;
  }
  throw new Error(`never finished: ${codes}`);
}

const MAINTENANCE = '<html><h1>Maintenance</h1></html>';

describe('a batch that was taken back stays in doubt, when what stands between answers the cancel', () => {
  test.each([
    ['403 of a firewall', write(403, '<html>Request blocked</html>'), 1],
    ['401 of a proxy', write(401, '<html>Proxy login</html>'), 1],
    ['a redirect', write(302, '', { location: 'http://127.0.0.1:1/' }), 1],
    ['406 with a page', write(406, MAINTENANCE), 3],
    ['503 with a page and Retry-After', write(503, MAINTENANCE, { 'retry-after': '0' }), 3],
    ['404 with nothing', write(404, ''), 3],
  ])('%s', async (_, foreign, cancels) => {
    const double = await Double.open(({ socket, isCancel, answer }) => {
      if (isCancel) socket.write(foreign);
      else answer();
    });
    const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString();
    const template = { source: 'ACME', text: 'Hi {{ name }}', scheduled: tomorrow };
    const steps = [anSmsStep({ template })];
    const workspace = await aJobTo(double.port, 30, { steps });
    const { summary } = await workspace.run();

    const { code, stdout } = await workspace.volley('cancel', summary.directory);

    expect([code, JSON.parse(stdout)]).toMatchObject([3, { batches: cancels, cancelled: 0, inDoubt: cancels * 10 }]);
    expect(double.batches.size).toBe(3 - cancels);
    // Nothing says that they were sent, and nothing that they were not: neither command sends them again.
    await workspace.volley('retry', summary.directory, '--only', 'not-sent');
    expect(double.twice).toEqual([]);
  });
});

const nginx = needNginx();

/** In front of the double, as Debian's package comes: upstreams that say nothing in time, and what is then answered. */
async function anNginxBefore(upstream: number, settings: string): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'volley-nginx-'));
  mkdirSync(join(directory, 'html'));
  writeFileSync(join(directory, 'html', 'maintenance.html'), MAINTENANCE);
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  );
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; pid ${join(directory, 'pid')}; error_log stderr crit;
    events { worker_connections 256; }
    http {
      access_log off; ${temporary.join(' ')}
      server {
        listen 127.0.0.1:${port}; root ${join(directory, 'html')};
        proxy_read_timeout 100ms; proxy_next_upstream off; proxy_http_version 1.1;
        ${settings}
        location = /maintenance.html { }
        location / { proxy_pass http://127.0.0.1:${upstream}; }
      }
    }`,
  );
  const child = spawn('nginx', ['-e', 'stderr', '-p', directory, '-c', join(directory, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true });
  });
  await expect.poll(async () => (child.exitCode === null ? isListening(port) : said), { timeout: 10_000 }).toBe(true);
  return port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/maintenance.html`).catch(() => undefined);
  return answer?.ok === true;
}

const RETRY = 'add_header Retry-After 1 always;';
const SETTINGS: readonly (readonly [what: string, settings: string])[] = [
  ['503 with a page and Retry-After', `error_page 502 504 =503 /maintenance.html; ${RETRY}`],
  ['429 with a page and Retry-After', `error_page 502 504 =429 /maintenance.html; ${RETRY}`],
  ['503 as it comes', 'error_page 502 504 =503 @busy; location @busy { return 503; }'],
  ['403 of a firewall', 'error_page 502 504 =403 /maintenance.html;'],
  ['406', 'error_page 502 504 =406 /maintenance.html;'],
  ['a redirect', 'error_page 502 504 =302 http://127.0.0.1:1/;'],
  ['504 as it comes', ''],
];

describe('behind a real nginx, which answers when the service took a batch and says nothing in time', () => {
  test
    .skipIf(nginx.isMissing)
    .each(oneIn(3, SETTINGS).map(([what, settings]) => [nginx.title(what), settings] as const))(
    '%s: nothing is sent twice',
    async (_, settings) => {
      const double = await Double.open(({ number, answer }) => {
        if (!isStruck(number)) answer();
      });
      const port = await anNginxBefore(double.port, settings);

      const { accepted, inDoubt } = await runToItsEnd(await aJobTo(port, ROWS));

      expect(double.twice).toEqual([]);
      expect([...double.taken.keys()].sort()).toEqual(numbersOf(ROWS));
      expect(accepted + inDoubt).toBe(ROWS);
      expect(inDoubt).toBeGreaterThan(0);
    },
  );
});
