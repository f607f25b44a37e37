import { once } from 'node:events';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Registry } from 'prom-client';
import type { Context } from '../command/context.js';
import { isDiskError, nameDiskError } from '../command/disk-error.js';
import { refuseAddress } from '../domain/loopback.js';

/** Where the figures of a command go, as its flags have it. */
export interface MetricsFlags {
  readonly metricsFile?: string | undefined;
  readonly metricsPort: number | undefined;
  readonly metricsHost: string;
}

/** How often the file is written. */
export const METRICS_EVERY_MS = 15_000;
/** How long the last write is awaited: a disk that does not answer must not hold a command that has ended. */
const LAST_WRITE_MS = 5_000;

/**
 * Serves the figures at once, and writes them as soon as the command says. Refuses, with UserError 'bad-flag', a port that cannot be had;
 * whatever else fails is a warning, of the file only the first. `isLive`: what `/healthz` says; without it there is none.
 */
export async function openOutlets(
  { metricsFile: file, metricsHost: host, metricsPort: port }: MetricsFlags,
  registry: Pick<Registry, 'metrics' | 'contentType'>,
  { env: { clock }, log }: { env: Pick<Context['env'], 'clock'>; log: Context['log'] },
  isLive?: () => boolean,
) {
  const warn = (doing: string, error: unknown) =>
    log.warn(`Cannot ${doing}: ${explain(error)}; all else goes on`, { event: 'metrics' });
  const server = port === undefined ? undefined : await serveMetrics({ host, port }, registry, warn, isLive);
  if (server !== undefined) log.info(`metrics are at ${server.origin}/metrics`, { event: 'metrics' });
  const path = file === undefined ? undefined : resolve(file);
  const ended = new AbortController();
  let writing: Promise<void> = Promise.resolve();
  let isReported = false;
  const write = (path: string) => {
    writing = writing
      .then(async () => replaceFile(path, await registry.metrics()))
      .catch((error: unknown) => {
        if (!isReported) warn(`write ${path}`, error);
        isReported = true;
      });
    return writing;
  };
  const writeSteadily = async (path: string) => {
    while (!ended.signal.aborted) {
      await write(path);
      await clock.sleep(METRICS_EVERY_MS, ended.signal);
    }
  };
  const leave = async () => {
    ended.abort();
    await server?.close();
  };
  return {
    /** What the file holds, from an earlier command; '' if it holds nothing that can be read, undefined without a file. */
    read: async () => path && readFile(path, 'utf8').catch(() => ''),
    /** Writes now, and then steadily. */
    begin: () => {
      if (path !== undefined) void writeSteadily(path);
    },
    /** Writes for the last time. */
    finish: async () => {
      ended.abort();
      const written = new AbortController();
      const writes = path === undefined ? Promise.resolve() : write(path).finally(() => written.abort());
      await Promise.race([writes, clock.sleep(LAST_WRITE_MS, written.signal)]);
      await leave();
    },
    /** Ends without a last write. */
    leave,
  };
}

/** Metrics are seldom collected by the user that sends; no figure is about a person. */
const MODE = 0o644;

/** Replaces the file as a whole, so that no reader sees a part of it. */
async function replaceFile(path: string, text: string): Promise<void> {
  // The collector reads `*.prom` alone. Processes of two containers may have the same id.
  const part = `${path}.${hostname()}.${process.pid}.part`;
  try {
    // Some disks of a network say only on closing that they have no room.
    await writeFile(part, text, { mode: MODE, flush: true });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

/** The most time that one request may take, headers included. */
const REQUEST_MS = 10_000;
const CONNECTIONS = 16;

const ADVICE =
  'Nothing was sent. Choose another --metrics-port, or 0 for any free one; --metrics-host must be an address of this machine.';

/** GET /metrics and /healthz, and nothing else; keeps no process alive. */
async function serveMetrics(
  { host, port }: { host: string; port: number },
  registry: Pick<Registry, 'metrics' | 'contentType'>,
  warn: (doing: string, error: unknown) => void,
  isLive: (() => boolean) | undefined,
) {
  const options = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: REQUEST_MS };
  const server = createServer(options, (request, reply) => {
    const [path] = (request.url ?? '').split('?', 1);
    const isHealth = path === '/healthz' && isLive !== undefined;
    if (path !== '/metrics' && !isHealth) return reply.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD') return reply.writeHead(405).end();
    if (isHealth) return isLive() ? reply.end('ok') : reply.writeHead(503).end('hangs');
    return registry.metrics().then(
      (text) => reply.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => {
        warn('serve metrics', error);
        reply.writeHead(500).end();
      },
    );
  });
  server.maxConnections = CONNECTIONS;
  server.listen(port, host);
  await once(server, 'listening').catch((error) => {
    throw refuseAddress(error, 'serve metrics', ADVICE);
  });
  server.on('error', (error) => warn('serve metrics', error));
  server.unref();
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function explain(error: unknown): string {
  if (isDiskError(error)) return nameDiskError(error);
  return error instanceof Error ? error.name : String(error);
}
