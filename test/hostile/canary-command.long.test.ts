import { readdirSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEYS } from '../command/a-single-call.js';
import { COMMAND, Running } from '../e2e/command.js';
import { readFailure } from '../e2e/failure.js';
import { oneIn } from '../one-in.js';
import { SandboxProcess, sandboxOf } from '../sandbox/sandbox-process.js';
import { aFastDirectory } from './a-fast-directory.js';
import { type Manner, startEchoingService } from './an-echoing-service.js';
import {
  CREDENTIALS,
  holdsNumber,
  holdsOneOf,
  NUMBER,
  readAll,
  SECRETS,
  STEERING,
  steersTerminal,
} from './canaries.js';

/** What Node itself can be made to tell of connections, requests and threads. */
const DEBUG = 'http,https,net,tls,worker';
const TEXT = 'Quietly, quietly';
const GOOD = `name,mobile\nAnn,${NUMBER}\n`;
const UNCLOSED = `name,mobile\nAnn,"${NUMBER}\n`;

interface Case {
  readonly keys: Readonly<Record<string, string>>;
  readonly people: string;
  readonly origin: () => string | Promise<string>;
  /** Of `volley run`. */
  readonly code: number;
}

const { directory: root, remove } = aFastDirectory();
const closers: (() => void)[] = [];
let sandbox: SandboxProcess;
beforeAll(async () => {
  sandbox = await SandboxProcess.start(root, sandboxOf(COMMAND));
});
afterAll(async () => {
  await sandbox?.stop();
  for (const close of closers) close();
  remove();
});

const CASES: Readonly<Record<string, Case>> = {
  'a service that takes all': { keys: KEYS, people: GOOD, origin: () => sandbox.origin, code: 0 },
  'a file that is refused': { keys: KEYS, people: UNCLOSED, origin: () => sandbox.origin, code: 2 },
  'a service that answers 401': { keys: SECRETS, people: GOOD, origin: () => sandbox.origin, code: 4 },
  'a service that is not there': { keys: SECRETS, people: GOOD, origin: nobodysOrigin, code: 75 },
  // Its campaign is not what it was set to.
  'a service that takes all and repeats the key': echoing('takes', 4),
  'a service that answers 401 and repeats the key': echoing('refuses the key', 4),
  'a service that answers 500 and repeats the key': echoing('fails', 75),
};

describe.concurrent(`the built command, with NODE_DEBUG=${DEBUG}`, () => {
  test.each(oneIn(4, Object.keys(CASES)))(
    'before %s, neither says nor writes a secret, nor logs a number or a text',
    async (name) => {
      const { keys, people, origin, code } = CASES[name]!;
      const directory = join(root, String(Object.keys(CASES).indexOf(name)));
      await mkdir(directory);
      writeFileSync(join(directory, 'people.csv'), people);
      writeFileSync(join(directory, 'sale.yaml'), JSON.stringify(aJob(await origin())));
      const volley = (...args: string[]) =>
        new Running(args, { cwd: directory, env: { PATH: process.env.PATH ?? '', ...keys, NODE_DEBUG: DEBUG } }).ended;
      const leaks: string[] = [];
      const look = (verb: string, { stdout, stderr }: { stdout: string; stderr: string }) => {
        for (const [stream, text] of Object.entries({ stdout, stderr })) {
          if (holdsOneOf(Object.values(keys), text)) leaks.push(`a secret in ${stream} of ${verb}`);
          if (steersTerminal(text)) leaks.push(`what steers a terminal in ${stream} of ${verb}`);
        }
        if (holdsNumber(stderr)) leaks.push(`a number in stderr of ${verb}`);
        if (holdsNumber(stdout)) leaks.push(`a number in stdout of ${verb}`);
        if (stderr.includes(TEXT)) leaks.push(`a text in stderr of ${verb}`);
      };

      look('plan', await volley('plan', 'sale.yaml'));
      const ran = await volley('run', 'sale.yaml');
      look('run', ran);
      const out = join(directory, 'out/sale');
      const runs = code === 2 ? [] : readdirSync(out).filter((entry) => !/^(lock-|memory-|claims)/.test(entry));
      for (const run of runs) {
        look('status', await volley('status', join(out, run)));
        look('report', await volley('report', join(out, run)));
      }
      const files = readAll(join(directory, 'out'));
      for (const [path, text] of files) if (holdsOneOf(Object.values(keys), text)) leaks.push(`a secret in ${path}`);

      expect(leaks).toEqual([]);
      expect([ran.code, ran.stderr]).toEqual([code, expect.any(String)]);
      if (code === 2) return;
      // Node did tell of its requests, and there was something to look at.
      expect(ran.stderr).toMatch(/^NET \d+: /m);
      expect(files.map(([path]) => basename(path))).toEqual(
        expect.arrayContaining(['plan.json', 'journal.ndjson', 'summary.json']),
      );
    },
  );
});

test.each(['undici', 'net,STREAM', 'str*'])(
  'the built command refuses NODE_DEBUG=%s, by which Node would print bytes and addresses',
  async (debug) => {
    const ended = await new Running(['plan', 'sale.yaml'], { cwd: root, env: { NODE_DEBUG: debug } }).ended;

    expect(readFailure(ended)).toMatchObject({ exitCode: 2, error: { code: 'unsafe-environment' } });
    expect(ended.stderr).toContain('"Cannot start: with NODE_DEBUG=');
  },
);

/** One request with each secret at least, where nothing stops it. */
function aJob(origin: string): object {
  const bases = { sms: origin, contacts: origin, gateway: origin, campaign: origin, chat: origin };
  const input = { files: 'people.csv' };
  return {
    service: { account: 'acme', credentials: CREDENTIALS, bases, giveUpAfterSeconds: 0 },
    steps: [
      { kind: 'contacts', input, fields: { firstName: 'name', msisdn: 'mobile' } },
      { kind: 'sms', input, destination: 'mobile', template: { text: `${TEXT} {{ name }}` } },
      {
        kind: 'conversations',
        input,
        user: { name: 'name', phone: 'mobile' },
        channel: 'sandbox-channel',
        queue: '100',
      },
      { kind: 'campaign', campaign: 101, set: 'PAUSED' },
      { kind: 'chat', text: '{{ accepted }} sent', when: 'always' },
    ],
    output: 'out',
  };
}

function echoing(manner: Manner, code: number): Case {
  const origin = async () => {
    const service = await startEchoingService(manner, `${NUMBER} ${STEERING}`);
    closers.push(service.close);
    return service.origin;
  };
  return { keys: SECRETS, people: GOOD, origin, code };
}

/** A port that was free a moment ago. */
async function nobodysOrigin(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
