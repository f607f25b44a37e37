import { createServer } from 'node:http';
import { METRICS_TYPE } from './metric-set.js';

export interface MetricsServer {
  /** `http://127.0.0.1:9464` */
  readonly origin: string;
  close(): Promise<void>;
}

/** Of one request, headers included. */
const REQUEST_MS = 10_000;
const CONNECTIONS = 16;

/**
 * Serves GET /metrics, and nothing else; keeps no process alive. Rejects with the system's error where it cannot listen; what fails later
 * is reported by `warn`.
 */
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  { render, warn }: { render: () => Promise<string>; warn: (error: unknown) => void },
): Promise<MetricsServer> {
  const options = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: REQUEST_MS };
  const server = createServer(options, (request, reply) => {
    const [path] = (request.url ?? '').split('?', 1);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path !== '/metrics' || !isRead) {
      reply.writeHead(path === '/metrics' ? 405 : 404).end();
      return;
    }
    render().then(
      (text) => reply.writeHead(200, { 'content-type': METRICS_TYPE }).end(text),
      (error: unknown) => {
        warn(error);
        reply.writeHead(500).end();
      },
    );
  });
  server.maxConnections = CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', warn);
  server.unref();
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
