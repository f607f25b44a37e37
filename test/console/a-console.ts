import { mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { openTeam, type Role } from '../../src/console/access.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { nodeFiles } from '../../src/storage/files.js';
import { Running } from '../e2e/command.js';
import { Client } from '../sandbox/sandbox-client.js';
import { ConsoleInProcess } from './console-in-process.js';

export interface Answer {
  readonly status: number;
  /** Where it leads. */
  readonly to: string | undefined;
  readonly text: string;
  readonly headers: Headers;
}

type Asking = Readonly<Record<string, string>>;

/** A console that is at work. */
interface Started {
  firstLine(): Promise<string>;
  signal(name: NodeJS.Signals): unknown;
  readonly ended: Promise<{ readonly code: number | null }>;
}

const TIMEOUT_MS = 120_000;
const SCRIPT = { accept: 'application/json' };

/** One that the tests of a `describe` share, open in a browser. */
export function openAConsole(env?: Asking): AConsole {
  const console = new AConsole(env);
  beforeAll(async () => {
    await console.start();
    await console.enter();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await console.end();
  }, TIMEOUT_MS);
  return console;
}

/** `volley console` on a directory of its own, and a browser without scripts. */
export class AConsole {
  readonly directory: string;
  #running: Started | undefined;
  readonly #env: Asking;
  #cookie = '';
  #token = '';
  origin = '';
  link = '';

  constructor(env: Asking = {}) {
    this.#env = { PATH: process.env.PATH ?? '', ...env };
    this.directory = realpathSync(mkdtempSync(join(tmpdir(), 'console-')));
  }

  /** Opened by its link, or by its users. In this process, as are the commands that it starts, which is sooner done. */
  async start(...flags: string[]): Promise<void> {
    await this.#open(new ConsoleInProcess(this.#argsOf(flags), this.directory, this.#env));
  }

  /** The same by the built command: where what it starts is to be stopped, killed or outlive it. */
  async startProcess(...flags: string[]): Promise<void> {
    await this.#open(this.run(...this.#argsOf(flags).slice(3)));
  }

  async #open(running: Started): Promise<void> {
    this.#running = running;
    ({ origin: this.origin, link: this.link } = JSON.parse(await running.firstLine()));
  }

  #argsOf(flags: readonly string[]): string[] {
    return ['console', '--directory', this.directory, ...(flags.includes('--port') ? [] : ['--port', '0']), ...flags];
  }

  /** The command on its directory. */
  run(...flags: string[]): Running {
    return new Running(['console', '--directory', this.directory, ...flags], { cwd: this.directory, env: this.#env });
  }

  /** Their passwords; who may use a console that is started with these `--users`. */
  async addUsers(users: string, roles: Readonly<Record<string, Role>>): Promise<Record<string, string>> {
    const team = openTeam(users, nodeFiles);
    const passwords: Record<string, string> = {};
    for (const [name, role] of Object.entries(roles)) passwords[name] = await team.add({ name, role });
    return passwords;
  }

  async enter(): Promise<Answer> {
    return this.#let(await this.ask(this.link.slice(this.origin.length)));
  }

  /** From now on it is this person who asks. */
  async signIn(name: string, password: string): Promise<Answer> {
    return this.#let(await this.ask('/enter', { fields: { name, password } }));
  }

  async #let(answer: Answer): Promise<Answer> {
    this.#cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    this.#token = fieldOf(await this.ask('/'), 'token');
    return answer;
  }

  /** With the headers that a browser sends, unless others are given. */
  async ask(
    path: string,
    { fields, headers = {} }: { fields?: Asking | FormData; headers?: Asking } = {},
  ): Promise<Answer> {
    const body = fields === undefined || fields instanceof FormData ? fields : new URLSearchParams(fields);
    const answer = await fetch(`${this.origin}${path}`, {
      redirect: 'manual',
      headers: { cookie: this.#cookie, ...(body === undefined ? {} : { origin: this.origin }), ...headers },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    const to = answer.headers.get('location') ?? undefined;
    return { status: answer.status, to, text: await answer.text(), headers: answer.headers };
  }

  /** A form of one of its pages. */
  post(path: string, fields: Asking = {}, headers: Asking = {}): Promise<Answer> {
    return this.ask(path, { fields: { token: this.#token, ...fields }, headers });
  }

  /** What a page says while a form of it is filled in. */
  async count(path: string, fields: Asking): Promise<string> {
    return JSON.parse((await this.post(path, { ...fields, count: '1' }, SCRIPT)).text).said;
  }

  /** A form with a file. */
  async upload(
    path: string,
    name: string,
    text: string | Uint8Array<ArrayBuffer>,
    fields: Asking = {},
  ): Promise<Answer> {
    const body = new FormData();
    for (const [field, value] of Object.entries(fields)) body.set(field, value);
    body.set('token', this.#token);
    body.set('file', new File([text], name));
    return this.ask(path, { fields: body });
  }

  write(name: string, text: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  /** A campaign up to its message, of a file of people. */
  async aCampaign(name: string, people: string, country?: string): Promise<void> {
    await this.post('/new', { name });
    await this.post(`/c/${name}/file`, { path: this.write(`${name}.csv`, people) });
    if (country !== undefined) await this.post(`/c/${name}/columns`, { destination: 'mobile', country });
    await this.save(`/c/${name}/message`, { sender: 'LADEN', message: `Hi {{ name }}, ${name}!` });
  }

  jobOf(name: string): string {
    return this.read(`campaigns/${name}/job.yaml`);
  }

  /** Its job file as a person leaves it. */
  changeJob(name: string, change: (job: string) => string): void {
    this.write(`campaigns/${name}/job.yaml`, change(this.jobOf(name)));
  }

  /** What the form of a page carries that was opened now. */
  async formOf(path: string): Promise<{ sha256: string }> {
    return { sha256: fieldOf(await this.ask(path), 'sha256') };
  }

  /** What the form of what could not be used carries, opened now: the plan, and which row stands where. */
  async fixFormOf(name: string): Promise<Record<string, string>> {
    const page = await this.ask(`/c/${name}/fix`);
    const rows = [...page.text.matchAll(/name="(row-\d+)" value="(\w+)"/g)].map(([, field = '', key = '']) => [
      field,
      key,
    ]);
    return { plan: fieldOf(page, 'plan'), ...Object.fromEntries(rows) };
  }

  /** Such a form, opened and saved. */
  async save(path: string, fields: Asking): Promise<Answer> {
    return this.post(path, { ...(await this.formOf(path)), ...fields });
  }

  /** The page of the check, once it is done. */
  async check(name: string): Promise<Answer & { plan: string }> {
    await this.post(`/c/${name}/check`);
    return this.checked(name);
  }

  /** The same of a check that was begun. */
  async checked(name: string): Promise<Answer & { plan: string }> {
    await this.until(`/c/${name}/check`);
    const page = await this.ask(`/c/${name}/check`);
    return { ...page, plan: fieldOf(page, 'plan') };
  }

  /** Its page, once the run is at rest. */
  async ended(name: string): Promise<Answer> {
    await this.until(`/c/${name}/run`);
    return this.ask(`/c/${name}/run`);
  }

  /** The page of the test, once that is over. */
  async tested(name: string): Promise<Answer> {
    await this.until(`/c/${name}/test`);
    return this.ask(`/c/${name}/test`);
  }

  /** What a page waits for is over. */
  async until(path: string): Promise<void> {
    for (;;) {
      const { to, text } = await this.ask(path, { headers: SCRIPT });
      if (to !== undefined || !text.startsWith('{"title"') || JSON.parse(text).said === undefined) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Numbers that the embedded sandbox of a campaign was asked to write to, in order. */
  sent(name: string): string[] {
    const ledger = join(this.directory, 'campaigns', name, 'out', name, 'sandbox', 'ledger.ndjson');
    return [...readFileSync(ledger, 'utf8').matchAll(/"(\+\d{8,15})"/g)].map(([, number = '']) => number).sort();
  }

  /** What is checked of a campaign goes to so many; its page, once the run is at rest. */
  async send(name: string, count: number): Promise<Answer> {
    const { plan } = await this.checked(name);
    await this.post(`/c/${name}/send`, { plan, count: String(count) });
    return this.ended(name);
  }

  /** What of one of its pages is read. */
  async textAt(path: string): Promise<string> {
    return textOf(await this.ask(path));
  }

  files(name: string): string[] {
    return readdirSync(join(this.directory, 'campaigns', name));
  }

  /** Resolves with its exit code. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null | undefined> {
    this.#running?.signal(signal);
    return (await this.#running?.ended)?.code;
  }
}

/** An answer with this status, whose page says this. */
export function expectSaid(answer: Answer, status: number, said: string): void {
  expect([answer.status, textOf(answer)]).toEqual([status, expect.stringContaining(said)]);
}

/** Numbers that a sandbox was asked to write to, in order. */
export async function destinationsIn(sandbox: Sandbox): Promise<string[]> {
  return (await new Client(sandbox).entries('sms')).map(({ destination }) => destination).sort();
}

/** The lines of a job that sends to this sandbox as to the service. */
export function serviceOf({ origin }: Sandbox): string {
  return `account: acme\n  credentials: { apiKey: { env: VOLLEY_API_KEY } }\n  bases: { sms: "${origin}" }`;
}

/** Of a hidden field of a form; '' where the page has none. */
export function fieldOf({ text }: Pick<Answer, 'text'>, name: string): string {
  return new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? '';
}

/** What of a page is read. */
export function textOf({ text }: Pick<Answer, 'text'>): string {
  const main = text.slice(text.indexOf('<main'));
  const bare = main.replace(/<[^>]+>/g, ' ').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  return bare.replace(/\s+/g, ' ').trim();
}
