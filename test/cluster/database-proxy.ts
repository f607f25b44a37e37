import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** Where a call of a function of the schema, or a statement, breaks: before the server has it, or when its reply is on the way. */
export interface Cut {
  /** Such as `append`, or words of a statement. */
  readonly statement: string;
  /** From the first call on that names it. */
  readonly nth: number;
  readonly when: 'before' | 'reply';
}

export interface DatabaseProxy {
  url(database: string): string;
  /** Statements whose call was not cut yet. */
  left(): readonly string[];
  /** From now on nothing passes, in either direction, and no connection breaks: as behind a partition. Returns how to end it. */
  freeze(): () => void;
  close(): Promise<void>;
}

/**
 * Stands between a process and the server, and cuts each of these calls once; everything else passes, and takes `answerMs` longer there
 * and back.
 */
export async function startDatabaseProxy(
  socketDirectory: string,
  cuts: readonly Cut[] = [],
  { answerMs = 0 }: { answerMs?: number } = {},
): Promise<DatabaseProxy> {
  const nameOf = (statement: string) => (statement.includes(' ') ? statement : `volley.${statement}(`);
  const left = new Map(cuts.map((cut) => [cut.statement, { ...cut, name: nameOf(cut.statement) }]));
  /** The cut that is due at this call, if there is one. */
  const takeCut = (bytes: Buffer): Cut['when'] | undefined => {
    const cut = [...left.values()].find(({ name }) => bytes.includes(name));
    if (cut === undefined) return undefined;
    if (cut.nth > 1) left.set(cut.statement, { ...cut, nth: cut.nth - 1 });
    else left.delete(cut.statement);
    return cut.nth > 1 ? undefined : cut.when;
  };
  const travel = (socket: Socket, bytes: Buffer) => {
    if (answerMs === 0) socket.write(bytes);
    else setTimeout(() => socket.write(bytes), answerMs / 2);
  };
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const proxy = createServer((client) => {
    const server = connect(join(socketDirectory, '.s.PGSQL.5432'));
    let isCutting = false;
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
    client.on('data', (bytes) => {
      const when = takeCut(bytes);
      if (when === 'before') return end();
      isCutting ||= when === 'reply';
      travel(server, bytes);
    });
    server.on('data', (bytes) => (isCutting ? end() : travel(client, bytes)));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    left: () => [...left.keys()],
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
