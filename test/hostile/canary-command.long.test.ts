import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Running, readFailure } from '../e2e/command.js';
import { oneIn } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';
import { type Manner, startEchoingService } from './an-echoing-service.js';
import { holdsNumber, holdsSecret, NUMBER, readAll, SECRETS, steersTerminal } from './canaries.js';

/** What Node itself can be made to tell of connections, requests and threads. */
const DEBUG = 'http,https,net,tls,worker';
const TEXT = 'Quietly, quietly';

const input = { files: 'people.csv' };
/** One request with each secret at least, where nothing stops it. */
const STEPS = [
  { kind: 'contacts', input, fields: { firstName: 'name', msisdn: 'mobile' } },
  { kind: 'sms', input, destination: 'mobile', template: { text: `${TEXT} {{ name }}` } },
  { kind: 'conversations', input, user: { name: 'name', phone: 'mobile' }, channel: 'sandbox-channel', queue: '100' },
  { kind: 'campaign', campaign: 101, set: 'PAUSED' },
  { kind: 'chat', text: '{{ accepted }} sent', when: 'always' },
];

const root = aFolder();

/** What the service does with a request, and the exit code of `volley run`; its campaign is not what it was set to. */
const CASES: readonly (readonly [Manner, number])[] = [
  ['takes', 4],
  ['refuses the key', 4],
  ['fails', 75],
];

describe.concurrent(`the built command, with NODE_DEBUG=${DEBUG}`, () => {
  test.each(oneIn(2, CASES))(
    'before a service that %s and repeats the key, neither says nor writes a secret, nor logs a number or a text',
    async (manner, code) => {
      const { service } = await startEchoingService(manner);
      const directory = join(root, manner);
      mkdirSync(directory);
      writeFileSync(join(directory, 'people.csv'), `name,mobile\nAnn,${NUMBER}\n`);
      writeFileSync(join(directory, 'sale.yaml'), JSON.stringify({ service, steps: STEPS, output: 'out' }));
      const env = { PATH: process.env.PATH ?? '', ...SECRETS, NODE_DEBUG: DEBUG };
      const volley = (...args: string[]) => new Running(args, { cwd: directory, env }).ended;
      const leaks: string[] = [];
      const look = (verb: string, { stdout, stderr }: { stdout: string; stderr: string }) => {
        for (const [stream, text] of Object.entries({ stdout, stderr })) {
          if (holdsSecret(text)) leaks.push(`a secret in ${stream} of ${verb}`);
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
      const runs = readdirSync(out).filter((entry) => !/^(lock-|memory-|claims)/.test(entry));
      for (const run of runs) {
        look('status', await volley('status', join(out, run)));
        look('report', await volley('report', join(out, run)));
      }
      const files = readAll(join(directory, 'out'));
      for (const [path, text] of files) if (holdsSecret(text)) leaks.push(`a secret in ${path}`);

      expect(leaks).toEqual([]);
      expect([ran.code, ran.stderr]).toEqual([code, expect.any(String)]);
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
