import { join } from 'node:path';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { parseJob } from '../../src/job/load.js';
import { createHost } from '../../src/library/program-host.js';
import type { Summary } from '../../src/report/summary.js';
import { createTransport } from '../../src/service/transport.js';
import { runLoadedJob } from '../command/give-verb.js';
import { aFolder } from '../plan/a-plan.js';
import { FaultyServer, type Strike } from './faulty-server.js';
import { type Kind, rowsOf } from './kinds.js';

/** What a stalled request is given; all others are given the time of the job, which no machine under load needs. */
const IMPATIENT = { connectSeconds: 1, answerSeconds: 0.2 };

export interface Scene {
  readonly server: FaultyServer;
  /** `volley run` of the same job, in this process, over the real transport and lane; no summary where there was nothing new to send. */
  run(): Promise<{ code: number; summary: Summary | undefined }>;
}

/** A folder with the rows of a kind and a job for them, before a server with a fault, which is closed after the task. */
export async function withScene<T>(
  kind: Kind,
  strike: Strike,
  task: (scene: Scene) => Promise<T>,
  { concurrency = 1 } = {},
): Promise<T> {
  const server = await FaultyServer.open(strike);
  try {
    const lines = rowsOf(kind).map((row) => `${Object.values(row).join(',')}\n`);
    const directory = aFolder({ 'people.csv': `name,mobile,session,code\n${lines.join('')}` });
    const text = JSON.stringify(createJob(kind, { server, strike, concurrency }));
    const job = parseJob(text, join(directory, 'job.yaml'));
    const run = async () => {
      let stdout = '';
      const host = {
        ...createHost({ env: { KEY: 'k3y' } }),
        runtime: createWorld(server),
        writeStdout: async (more: string) => {
          stdout += more;
        },
      };
      const code = await runLoadedJob(job, { json: true }, host);
      const told = JSON.parse(stdout);
      return { code, summary: told.state === 'nothing-new' ? undefined : (told as Summary) };
    };
    return await task({ server, run });
  } finally {
    await server.close();
  }
}

function createJob(
  { step }: Kind,
  { server, strike, concurrency }: { server: FaultyServer; strike: Strike; concurrency: number },
): object {
  const { base } = server;
  const limits = 'limits' in step ? { ...(step.limits as object), concurrency } : { concurrency };
  return {
    name: 'faults',
    service: {
      account: 'acme',
      bases: { sms: base, contacts: base, verification: base, gateway: base },
      credentials: { apiKey: { env: 'KEY' }, gateway: { apiKey: { env: 'KEY' } } },
      // A server that stays down is given up on at the first look.
      giveUpAfterSeconds: strike.lasts === 'once' ? 60 : 0,
    },
    steps: [{ ...step, limits }],
    output: { directory: 'out', format: 'ndjson' },
  };
}

/** This machine, without chance, with each failure of it reported. */
function createWorld(server: FaultyServer): Env {
  const random = () => 0;
  return {
    ...nodeEnv,
    random,
    loadLane: async () => {
      const { createLane } = await import('../../src/throttle/lane.js');
      return (options) => createLane({ ...options, clock: nodeEnv.clock, random });
    },
    loadTransport: async () => (timeouts) => {
      const patient = createTransport(timeouts);
      const impatient = createTransport(IMPATIENT);
      return {
        send: async (call, signal) => {
          const answer = await (server.isStallNext ? impatient : patient).send(call, signal);
          if (answer.kind === 'failure') await server.noteFailure();
          return answer;
        },
        dropConnections: () => {
          patient.dropConnections?.();
          impatient.dropConnections?.();
        },
        close: async () => {
          await Promise.all([patient.close(), impatient.close()]);
        },
      };
    },
  };
}
