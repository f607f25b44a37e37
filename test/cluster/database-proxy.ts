import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

export interface DatabaseProxy {
  url(database: string): string;
  /** From now on nothing passes, in either direction, and no connection breaks: as behind a partition. Returns how to end it. */
  freeze(): () => void;
  close(): Promise<void>;
}

/** Stands between processes and the server: everything passes, and takes `answerMs` longer there and back. */
export async function startDatabaseProxy(socketDirectory: string, { answerMs = 0 } = {}): Promise<DatabaseProxy> {
  const travel = (socket: Socket, bytes: Buffer) => {
    if (answerMs === 0) socket.write(bytes);
    else setTimeout(() => socket.write(bytes), answerMs / 2);
  };
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect(join(socketDirectory, '.s.PGSQL.5432'));
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      if (isFrozen) socket.pause();
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => travel(server, bytes));
    server.on('data', (bytes) => travel(client, bytes));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
      return () => {
        isFrozen = false;
        for (const socket of sockets) socket.resume();
      };
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
