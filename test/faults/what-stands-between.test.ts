import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aStepForTomorrow, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspaceInProcess, type Workspace } from '../e2e/a-workspace.js';
import { needNginx } from '../e2e/of-the-machine.js';
import { findPort, openHere } from '../e2e/opened.js';
import { oneIn } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';

const ROWS = 120;
/** Which of the requests that arrive meet what stands between. The first are probes. */
const STRUCK = Array.from({ length: ROWS }, (_, at) => 4 * (at + 1));

type Foreign = Readonly<{ status: number; body?: string; headers?: Readonly<Record<string, string>> }>;

/** Stands before a service: passes each request on, but gives a cancel an answer of its own. */
async function openFront(service: string, foreign: Foreign): Promise<string> {
  const pass = async ({ method = '', url = '', headers }: IncomingMessage, body: string): Promise<Foreign> => {
    const { authorization = '' } = headers;
    const sent = { method, headers: { authorization, ...JSON_TYPE }, ...(body !== '' && { body }) };
    const answer = await fetch(`${service}${url}`, sent);
    return { status: answer.status, body: await answer.text(), headers: JSON_TYPE };
  };
  const server = createServer(async (request, response) => {
    const taken = await pass(request, await text(request));
    const { status, body, headers } = request.method === 'DELETE' ? foreign : taken;
    response.writeHead(status, headers).end(body);
  });
  return openHere(server);
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** The job, of so many people, as it sends by way of this address. */
function changeTo(workspace: Workspace, sms: string, rows: number, more: object = {}): void {
  workspace.write('people.csv', people(rows));
  const service = { bases: { sms }, giveUpAfterSeconds: 60 };
  workspace.change({ service, ...more });
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

test.each<[string, Foreign, number]>([
  ['403 of a firewall', { status: 403, body: '<html>Request blocked</html>' }, 1],
  ['401 of a proxy', { status: 401, body: '<html>Proxy login</html>' }, 1],
  ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 1],
  ['406 with a page', { status: 406, body: MAINTENANCE }, 3],
  ['503 with a page and Retry-After', { status: 503, body: MAINTENANCE, headers: { 'retry-after': '0' } }, 3],
  ['404 with nothing', { status: 404 }, 3],
])(
  'a batch that was taken back stays in doubt, when what stands between answers the cancel %s',
  async (_, foreign, cancels) => {
    const workspace = await aWorkspaceInProcess();
    const front = await openFront(workspace.sandbox.origin, foreign);
    changeTo(workspace, front, 30, { steps: [aStepForTomorrow()] });
    const { summary } = await workspace.run();

    const { code, stdout } = await workspace.volley('cancel', summary.directory);

    expect([code, JSON.parse(stdout)]).toMatchObject([3, { batches: cancels, cancelled: 0, inDoubt: cancels * 10 }]);
    expect((await workspace.sms()).filter(({ cancelledAt }) => cancelledAt !== null)).toHaveLength(cancels * 10);
    // Nothing says that they were sent, and nothing that they were not: neither command sends them again.
    await workspace.volley('retry', summary.directory, '--only', 'not-sent');
    expect(await workspace.destinations()).toEqual(numbersOf(30));
  },
);

const nginx = needNginx();

/** In front of the service, as Debian's package comes: upstreams that say nothing in time, and what is then answered. */
async function anNginxBefore(upstream: string, settings: string): Promise<string> {
  const directory = aFolder({ 'html/maintenance.html': MAINTENANCE });
  const port = await findPort();
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
        location / { proxy_pass ${upstream}; }
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
  });
  await expect.poll(async () => (child.exitCode === null ? isListening(port) : said), { timeout: 10_000 }).toBe(true);
  return `http://127.0.0.1:${port}`;
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
      const workspace = await aWorkspaceInProcess({ kind: 'stall-after', nth: STRUCK });
      changeTo(workspace, await anNginxBefore(workspace.sandbox.origin, settings), ROWS);

      const { accepted, inDoubt } = await runToItsEnd(workspace);

      expect(await workspace.destinations()).toEqual(numbersOf(ROWS));
      expect(accepted + inDoubt).toBe(ROWS);
      expect(inDoubt).toBeGreaterThan(0);
    },
  );
});
