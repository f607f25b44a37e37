import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';

/** Four addresses for each process: two processes with the same ones would get each other's packets. */
const OWN = 4 * (process.pid % 2 ** 14);
const [HOST, INSIDE] = [1, 2].map((at) => `10.213.${OWN >> 8}.${(OWN & 0xff) + at}`);
/** Carries bytes from a port of the loopback inside to the same port of the other end. */
const RELAY = `const net = require('node:net');
for (const port of process.argv.slice(1)) net.createServer((near) => {
  const far = net.connect(Number(port), '${HOST}');
  for (const [one, other] of [[near, far], [far, near]]) one.on('error', () => other.destroy()).pipe(other);
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('.'));`;

/** A machine of its own as far as its network goes: what listens here on these ports of the loopback is there too. */
export interface NetworkNamespace {
  start(command: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): ChildProcess;
  /** Packets vanish both ways from then on; connections stay, and neither side knows. */
  cut(): void;
  join(): void;
  /** Kills what was started there. */
  close(): Promise<void>;
}

/** Undefined where this machine does not let us make one: that takes root and `ip`. */
export async function openNetworkNamespace(ports: readonly number[]): Promise<NetworkNamespace | undefined> {
  const name = `volley-${process.pid}`;
  const link = `vl${process.pid}`;
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });
  try {
    ip('netns', 'add', name);
  } catch {
    return undefined;
  }
  try {
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'inside', 'netns', name);
    ip('address', 'add', `${HOST}/30`, 'dev', link);
    ip('link', 'set', link, 'up');
    for (const args of [
      ['address', 'add', `${INSIDE}/30`, 'dev', 'inside'],
      ['link', 'set', 'inside', 'up'],
      ['link', 'set', 'lo', 'up'],
    ]) {
      ip('-n', name, ...args);
    }
  } catch {
    ip('netns', 'delete', name);
    return undefined;
  }
  const started: ChildProcess[] = [];
  const start: NetworkNamespace['start'] = (command, args, options) => {
    const all = ['netns', 'exec', name, process.execPath, command, ...args];
    const child = spawn('ip', all, { ...options, stdio: 'pipe' });
    started.push(child);
    return child;
  };
  const servers = await Promise.all(ports.map(relayHere));
  const relay = start('-e', [RELAY, ...ports.map(String)], { cwd: '/', env: process.env });
  for (let listening = 0; listening < ports.length; ) listening += String(await once(relay.stdout!, 'data')).length;
  return {
    start,
    cut: () => ip('link', 'set', link, 'down'),
    join: () => ip('link', 'set', link, 'up'),
    close: async () => {
      for (const child of started) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'close');
      }
      for (const server of servers) server.close();
      ip('netns', 'delete', name);
    },
  };
}

async function relayHere(port: number): Promise<Server> {
  const server = createServer((far) => {
    const near = connect(port, '127.0.0.1');
    far.on('error', () => near.destroy()).pipe(near);
    near.on('error', () => far.destroy()).pipe(far);
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  return server;
}
