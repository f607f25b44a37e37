import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type Arrived, rowOf } from '../kinds/examples.js';
import { type Done, Service } from '../world/service.js';
import { type Fault, writeAnswer } from './fault.js';

/** How many of them this process has tried. */
let quietPorts = 0;

export interface Strike {
  readonly fault: Fault;
  /** The number of the request that meets the fault, from 1, among those that `isTarget`. */
  readonly at: number;
  /** `once`: what comes after it is served. `until-healed`: that meets the fault, too. */
  readonly lasts: 'once' | 'until-healed';
  readonly isTarget: (request: Arrived) => boolean;
}

/**
 * A raw TCP server before the service, whose ledger says what was really processed: it serves every request honestly, save those that a
 * fault meets it. `test/service/raw-server.ts` listens for as long as its test; this one must be able not to.
 */
export class FaultyServer {
  readonly service = new Service();
  /** Whole requests that arrived. */
  requests = 0;
  /** Connections to the place that redirects point to. */
  strayed = 0;
  /** How often the fault met something. */
  struck = 0;
  readonly #strike: Strike;
  readonly #sockets = new Set<Socket>();
  /** On which nothing has come yet: made ahead of their requests. */
  readonly #unasked = new Set<Socket>();
  readonly #server: Server;
  readonly #elsewhere: Server;
  #port = 0;
  #targets = 0;
  #isHealed = false;
  #earlier: Done | undefined;

  static async open(strike: Strike): Promise<FaultyServer> {
    const server = new FaultyServer(strike);
    await listen(server.#elsewhere, 0);
    await (strike.fault.isDown === true ? server.#openQuietDoor() : server.#openDoor(0));
    if (server.#isNext && strike.fault.isDown === true) server.#server.close();
    return server;
  }

  private constructor(strike: Strike) {
    this.#strike = strike;
    this.service.holdSessions(Array.from({ length: 20 }, (_, index) => rowOf(index + 1)));
    this.#server = createServer((socket) => this.#take(socket));
    this.#elsewhere = createServer((socket) => {
      this.strayed += 1;
      socket.destroy();
    });
  }

  get base(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Whether the next request that is a target meets the fault. */
  get #isNext(): boolean {
    const { at, lasts } = this.#strike;
    if (this.#isHealed) return false;
    return lasts === 'once' ? this.struck === 0 && this.#targets === at - 1 : this.#targets >= at - 1;
  }

  get isStallNext(): boolean {
    return this.#strike.fault.isStall === true && this.#isNext;
  }

  /** What the client was answered; a server that was down once is up again as soon as someone has noticed. */
  async noteFailure(): Promise<void> {
    if (this.#server.listening || this.#isHealed) return;
    this.struck += 1;
    if (this.#strike.lasts === 'once') await this.#openDoor(this.#port);
  }

  /** From now on every request is served. */
  async heal(): Promise<void> {
    this.#isHealed = true;
    if (!this.#server.listening) await this.#openDoor(this.#port);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([this.#server, this.#elsewhere].map((each) => new Promise((resolve) => each.close(resolve))));
  }

  /** On a port that no one else takes while no one listens there: below those that systems give away by themselves. */
  async #openQuietDoor(): Promise<void> {
    for (;;) {
      quietPorts += 1;
      const port = 10_000 + ((process.pid * 40 + quietPorts) % 20_000);
      try {
        return await this.#openDoor(port);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
      }
    }
  }

  async #openDoor(port: number): Promise<void> {
    await listen(this.#server, port);
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    const { onConnection } = this.#strike.fault;
    if (onConnection !== undefined && this.#isNext) {
      this.struck += 1;
      onConnection(socket);
      return;
    }
    this.#unasked.add(socket);
    socket.on('close', () => this.#unasked.delete(socket));
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      this.#unasked.delete(socket);
      rest = Buffer.concat([rest, chunk]);
      const read = readRequest(rest);
      if (read === undefined) return;
      rest = rest.subarray(read.length);
      this.requests += 1;
      this.#serve(socket, read.request);
    });
  }

  #serve(socket: Socket, request: Arrived): void {
    const { fault, isTarget } = this.#strike;
    const isTargeted = isTarget(request);
    const isStruck = fault.onRequest !== undefined && isTargeted && this.#isNext;
    if (isTargeted) this.#targets += 1;
    let honest: Done | undefined;
    const process = () => (honest ??= this.service.process(request, Date.now()));
    if (!isStruck) {
      void this.#answer(socket, process(), isTargeted);
      return;
    }
    this.struck += 1;
    const { port } = this.#elsewhere.address() as AddressInfo;
    fault.onRequest?.({ socket, process, earlier: this.#earlier, elsewhere: `http://127.0.0.1:${port}` });
  }

  async #answer(socket: Socket, answer: Done, isTargeted: boolean): Promise<void> {
    if (isTargeted) this.#earlier = answer;
    const { isDown, onConnection, onIdle } = this.#strike.fault;
    if (this.#isNext && (isDown === true || onConnection !== undefined)) {
      // The next request needs a connection that is made for it then.
      if (isDown === true) this.#server.close();
      await this.#endUnasked();
      socket.end(writeAnswer(answer, { connection: 'close' }));
      return;
    }
    socket.write(writeAnswer(answer));
    if (onIdle === undefined || !this.#isNext) return;
    this.struck += 1;
    onIdle(socket);
  }

  async #endUnasked(): Promise<void> {
    // What the client has made by now may be accepted a moment later.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    const ended = [...this.#unasked].map((socket) => new Promise((resolve) => socket.end().once('close', resolve)));
    await Promise.all(ended);
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Undefined while a part of it is still on its way. */
function readRequest(bytes: Buffer): { request: Arrived; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const length = end + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? '0');
  if (bytes.length < length) return undefined;
  const [method = '', target = ''] = head.split(' ', 2);
  const { pathname: path, search: query } = new URL(target, 'http://service');
  const text = bytes.toString('utf8', end + 4, length);
  return { request: { method, path, query, body: text === '' ? undefined : JSON.parse(text) }, length };
}
