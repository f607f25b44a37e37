import { describe, expect, test } from 'vitest';
import { createContext } from '../../src/command/context.js';
import { nodeEnv } from '../../src/command/env.js';
import type { Terminal } from '../../src/command/terminal.js';
import { parseJob } from '../../src/job/load.js';
import { type Ended, postHook } from '../../src/observe/hook.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Answer } from '../../src/service/answer.js';
import type { Call } from '../../src/service/transport.js';
import { aTerminal } from '../command/a-terminal.js';

const HOOK = 'https://hooks.example.com/services/T00/SECRET?key=1';
const OK: Answer = { kind: 'response', status: 200, headers: {}, body: Buffer.alloc(0) };
const status = (code: number): Answer => ({ ...OK, status: code });
const refused: Answer = { kind: 'failure', mayHaveBeenProcessed: false, reason: 'ECONNREFUSED' };
const FAILED: Ended = {
  command: 'run',
  state: 'refused',
  exitCode: 2,
  reason: 'Cannot read the input of +6591234567',
  error: { code: 'bad-input', message: 'Cannot read the input of +6591234567' },
};

type Env = Readonly<Record<string, string>>;
type Posting = { ended?: Ended; notify?: object; env?: Env; sandbox?: boolean; signalAt?: number };

/** Answers in this order; `undefined` never comes, until the caller gives up. */
async function post(answers: readonly (Answer | undefined)[], posting: Posting = {}) {
  const { ended = FAILED, notify = { url: HOOK }, env = {}, sandbox = false, signalAt } = posting;
  const service = { account: 'acme', sandbox, credentials: { apiKey: { env: 'KEY' } } };
  const step = { kind: 'sms', input: { files: 'people.csv' }, destination: 'mobile', template: { text: 'Hi' } };
  const job = parseJob(JSON.stringify({ name: 'sale', service, steps: [step], notify }), '/jobs/sale.yaml');
  const calls: Call[] = [];
  const waited: number[] = [];
  const left = [...answers];
  const { terminal, said, signal, listeners } = aTerminal({ env, isStderrTerminal: false });
  let isOver = () => {};
  const clock: Clock = {
    now: () => Date.UTC(2026, 10, 23, 2),
    monotonicMs: () => 0,
    sleep: (delayMs, until) => {
      waited.push(delayMs);
      if (delayMs < 10_000) return Promise.resolve();
      return new Promise((resolve) => {
        isOver = resolve;
        until?.addEventListener('abort', () => resolve());
      });
    },
  };
  const host: Terminal = {
    ...terminal,
    runtime: {
      ...nodeEnv,
      clock,
      loadTransport: async () => () => ({
        send: async (call, until) => {
          calls.push(call);
          if (calls.length === signalAt) signal('SIGTERM');
          const answer = left.shift();
          if (answer !== undefined) return answer;
          if (until?.aborted === false) {
            const ends = new Promise((resolve) => until.addEventListener('abort', resolve));
            isOver();
            await ends;
          }
          return { kind: 'failure', mayHaveBeenProcessed: true, reason: 'AbortError' };
        },
        close: async () => {},
      }),
    },
  };
  if (job.notify === undefined) throw new Error('The job notifies no one');
  await postHook(createContext(host), job, job.notify, ended);
  expect(listeners.size).toBe(0);
  const bodies = calls.map(({ body }) => JSON.parse(String(body)));
  return { calls, bodies, waited: waited.filter((delayMs) => delayMs < 10_000), stderr: said.stderr };
}

describe('a hook', () => {
  test('is posted once as JSON, without a number, to its address', async () => {
    const { calls, bodies, stderr } = await post([OK]);
    expect(calls).toMatchObject([{ method: 'POST', base: HOOK, headers: { 'content-type': 'application/json' } }]);
    expect(bodies).toEqual([
      {
        format: 1,
        event: 'failure',
        job: 'sale',
        command: 'run',
        sandbox: false,
        at: '2026-11-23T02:00:00.000Z',
        run: null,
        state: 'refused',
        exitCode: 2,
        reason: 'Cannot read the input of +65******67',
        error: { code: 'bad-input', message: 'Cannot read the input of +65******67' },
        openDoubt: null,
        balance: null,
        steps: [],
        runs: [],
      },
    ]);
    expect(stderr).toBe('');
  });

  test('that is not taken is tried four times, each later, and is then one warning that names no address', async () => {
    const { calls, waited, stderr } = await post([refused, status(503), status(429), status(500), OK]);
    expect([calls.length, waited]).toEqual([4, [500, 1000, 2000]]);
    expect(stderr.match(/\n/g)).toHaveLength(1);
    expect(stderr).toContain('"level":40');
    expect(stderr).toContain('(notify.url): HTTP 500 at attempt 4, expected an answer 2xx');
    expect(stderr).not.toMatch(/hooks\.example|SECRET/);
  });

  test.each([
    ['is taken at a later attempt', [refused, status(502), OK], 3, /^$/],
    ['is not repeated where the answer is final', [status(404), OK], 1, /HTTP 404, expected/],
    ['is not sent to where a redirect points', [status(302), OK], 1, /HTTP 302, expected/],
    ['whose answer does not come is given up after 10 seconds', [undefined, OK], 1, /did not take it within 10 s/],
  ])('%s', async (_, answers, attempts, said) => {
    const { calls, stderr } = await post(answers);
    expect(calls).toHaveLength(attempts);
    expect(stderr).toMatch(said);
  });

  test('is given up when a signal comes', async () => {
    const { calls, stderr } = await post([refused, OK], { signalAt: 1 });
    expect(calls).toHaveLength(1);
    expect(stderr).toContain('a signal came');
  });

  test('reads its address where a secret is kept, and says what is wrong with it without repeating it', async () => {
    const notify = { url: { env: 'HOOK' } };
    expect((await post([OK], { notify, env: { HOOK } })).calls).toMatchObject([{ base: HOOK }]);
    expect((await post([], { notify })).stderr).toContain('the environment variable HOOK is not set');
    for (const wrong of ['http://hooks.example.com/SECRET', 'https://me:SECRET@hooks.example.com', 'SECRET']) {
      const { calls, stderr } = await post([], { notify, env: { HOOK: wrong } });
      expect(calls).toEqual([]);
      expect(stderr).toContain('it is no address to post to');
      expect(stderr).not.toContain('SECRET');
    }
  });

  test('of a job on the sandbox leaves the machine for no address, and says so', async () => {
    const { calls, stderr } = await post([OK], { sandbox: true });
    expect(calls).toEqual([]);
    expect(stderr).toContain('was not posted (notify.url): a job on the sandbox does not leave this machine');
    const local = { url: 'http://127.0.0.1:9999/hook' };
    expect((await post([OK], { sandbox: true, notify: local })).calls).toHaveLength(1);
  });

  test('is not posted where certificates are not checked', async () => {
    const { calls, stderr } = await post([OK], { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
    expect(calls).toEqual([]);
    expect(stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0');
  });
});

const anEnd = (exitCode: number, code?: string): Ended => ({
  ...FAILED,
  exitCode,
  error: code === undefined ? null : { code, message: 'so' },
});

test.each([
  [anEnd(0), 'success', ['success']],
  [anEnd(1), 'failure', ['failure']],
  [anEnd(2, 'bad-input'), 'failure', ['failure']],
  [anEnd(3), 'in-doubt', ['in-doubt']],
  [anEnd(4, 'guard'), 'failure', ['failure']],
  [anEnd(75), 'failure', ['failure']],
  [anEnd(2, 'missing-input'), 'missing-input', ['missing-input', 'failure']],
  [anEnd(75, 'lock-held'), '', []],
  [anEnd(75, 'not-yet'), '', []],
])('end %j is %s, posted where the job names %j', async (ended, event, named) => {
  const posted: string[] = [];
  for (const on of ['failure', 'in-doubt', 'success', 'missing-input']) {
    const { bodies } = await post([OK], { ended, notify: { url: HOOK, on: [on] } });
    if (bodies[0] !== undefined) {
      expect(bodies[0].event).toBe(event);
      posted.push(on);
    }
  }
  expect(posted.sort()).toEqual([...named].sort());
});
