/**
 * `volley apply <run directory>` on a lane whose limits never bind; all else is the real code, concurrency included.
 * Prints `{ sendingSeconds, state }`: from the first request to the last answer.
 */

import { type Env, nodeEnv } from '../../src/command/env.js';
import type { Terminal } from '../../src/command/terminal.js';
import { applyRun } from '../command/give-verb.js';

const NO_LIMITS = { requestsPerSecond: 1e9, messagesPerSecond: undefined, segmentsPerSecond: undefined };

const sending = { startMs: 0, endMs: 0 };

const loadLane: Env['loadLane'] = async () => {
  const createLane = await nodeEnv.loadLane();
  return (options) => createLane({ ...options, limits: { ...NO_LIMITS, concurrency: options.limits.concurrency } });
};

const loadTransport: Env['loadTransport'] = async () => {
  const createTransport = await nodeEnv.loadTransport();
  return (timeouts) => {
    const transport = createTransport(timeouts);
    return {
      ...transport,
      send: async (call, signal) => {
        if (sending.startMs === 0) sending.startMs = performance.now();
        const answer = await transport.send(call, signal);
        sending.endMs = performance.now();
        return answer;
      },
    };
  };
};

const [run = ''] = process.argv.slice(2);
let summary = '';
const host: Terminal = {
  env: process.env,
  stdin: process.stdin,
  isStdoutTerminal: false,
  isStderrTerminal: false,
  writeStdout: async (text) => {
    summary += text;
  },
  writeStderr: (text) => {
    process.stderr.write(text);
  },
  onSignal: () => () => {},
  leave: ({ exitCode }) => process.exit(exitCode),
  runtime: { ...nodeEnv, loadLane, loadTransport },
};
process.exitCode = await applyRun(
  { run, confirm: undefined, ignoreChangedInputs: false, adopt: true, json: true },
  host,
);
const sendingSeconds = (sending.endMs - sending.startMs) / 1000;
process.stdout.write(`${JSON.stringify({ sendingSeconds, state: JSON.parse(summary).state })}\n`);
