import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

interface Closable {
  close(): Promise<void>;
}

const opened: Closable[] = [];

/** Closed once the tests of the file that is running are over: they run at once, and none knows when the others are done. */
export function closeAfterFile(closable: Closable): void {
  opened.push(closable);
}

export async function closeOpened(): Promise<void> {
  await Promise.all(opened.splice(0).map((each) => each.close()));
}

/** Listens on a port of this machine until the tests of the file are over; gives the origin. */
export async function openHere(server: HttpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterFile({
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A port that nobody has. */
export async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
