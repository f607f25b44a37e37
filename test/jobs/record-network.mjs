// Loaded into a command before its own code (`node --import`): appends to the file that NETWORK_RECORD names, one JSON line
// each, every name that the process wants to be resolved, and every address that it connects or sends a datagram to.
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import process from 'node:process';

const path = process.env.NETWORK_RECORD;

function record(kind, host) {
  appendFileSync(path, `${JSON.stringify({ kind, host })}\n`);
}

function watch(holder, name, describe) {
  const original = holder[name];
  holder[name] = function watched(...args) {
    describe(...args);
    return original.apply(this, args);
  };
}

const NAME = /^(lookup|lookupService|resolve.*|reverse)$/;
for (const holder of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  for (const name of [...Object.keys(holder), ...Object.getOwnPropertyNames(holder)]) {
    if (NAME.test(name) && typeof holder[name] === 'function') watch(holder, name, (host) => record('name', host));
  }
}
watch(net.Socket.prototype, 'connect', (first) => {
  // net.connect hands its arguments on as one array.
  const options = Array.isArray(first) ? first[0] : first;
  const isTcp = typeof options !== 'string' && options?.path === undefined;
  if (isTcp) record('connect', options?.host ?? 'localhost');
});
watch(dgram.Socket.prototype, 'connect', (_port, host) => record('connect', host ?? 'localhost'));
watch(dgram.Socket.prototype, 'send', (...args) =>
  record(
    'connect',
    args.findLast((arg) => typeof arg === 'string'),
  ),
);
syncBuiltinESMExports();
record('started', '');
