import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { join } from 'node:path';
import { closeAfterFile } from '../e2e/opened.js';
import { aFolder } from '../plan/a-plan.js';
import { ROOT } from './dockerfile.js';

type Reached = Readonly<{ kind: 'started' | 'name' | 'connect'; host: string }>;

/** Of processes that are started with `start`: what they wanted to be resolved, and where they connected to. */
export interface NetworkRecord {
  readonly nodeArguments: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How many threads of processes were watched. */
  readonly started: number;
  /** Names other than localhost that were to be resolved, and hosts other than loopback that were connected to. */
  readonly outside: readonly string[];
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** A record of the test's own, gone when its file is over. */
export function aNetworkRecord(): NetworkRecord {
  const directory = aFolder();
  closeAfterFile({ close: () => rm(directory, { recursive: true, force: true }) });
  const file = join(directory, 'record.ndjson');
  const read = (): Reached[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  return {
    nodeArguments: ['--import', `${ROOT}test/jobs/record-network.mjs`],
    env: { NETWORK_RECORD: file },
    get started() {
      return read().filter(({ kind }) => kind === 'started').length;
    },
    get outside() {
      const reached = read().filter(({ kind, host }) => kind !== 'started' && !isLoopback(host));
      return [...new Set(reached.map(({ kind, host }) => `${kind} ${host}`))];
    },
  };
}

function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host === 'localhost' : LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4');
}
