import { chmodSync, chownSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openDatabase, parseDatabaseUrl } from '../../src/cluster/postgres/database.js';
import { findPort } from '../e2e/opened.js';
import { SELF_SIGNED } from '../service/self-signed.js';
import { openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

let server: PostgresServer;
let port: number;
let authority: string;
beforeAll(async () => {
  port = await findPort();
  server = await startPostgres('fsync=off', 'listen_addresses=127.0.0.1,127.0.0.2', `port=${port}`);
  authority = writeForServer('server.crt', SELF_SIGNED.cert);
});

test('a server that has no TLS is refused where it must have it', async () => {
  await expect(isEncrypted('localhost', '?sslmode=verify-full')).rejects.toMatchObject({
    name: 'UserError',
    code: 'bad-credentials',
    message: `Cannot use the database postgres at localhost:${port} as postgres: it has no TLS`,
  });
});

test('the certificate must be for the host, and of an authority that is known', async () => {
  const settings = [
    `ssl_cert_file = '${authority}'`,
    `ssl_key_file = '${writeForServer('server.key', SELF_SIGNED.key)}'`,
    'ssl = on',
  ];
  const database = openTestDatabase(`${server.url('postgres')}&port=${port}`);
  for (const setting of settings) await database.query(`alter system set ${setting}`);
  await database.query('select pg_reload_conf()');
  const known = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(authority)}`;
  while ((await isEncrypted('localhost', known).catch(() => undefined)) !== true);
  expect(await isEncrypted('127.0.0.1', known)).toBe(true);
  expect(await isEncrypted('127.0.0.1', '')).toBe(false);
  await expect(isEncrypted('localhost', '?sslmode=verify-full')).rejects.toMatchObject({
    code: 'bad-credentials',
    message: `Cannot use the database postgres at localhost:${port} as postgres: its TLS certificate is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  });
  await expect(isEncrypted('127.0.0.2', known)).rejects.toMatchObject({
    code: 'bad-credentials',
    message: `Cannot use the database postgres at 127.0.0.2:${port} as postgres: its TLS certificate is not accepted (ERR_TLS_CERT_ALTNAME_INVALID)`,
  });
});

test('an authority that is replaced while a process lives counts from its next connection on, also where its file is away', async () => {
  const path = join(server.directory, 'ca.crt');
  writeFileSync(path, 'another');
  const config = await readPlace('localhost', `?sslmode=verify-full&sslrootcert=${encodeURIComponent(path)}`);
  await expect(isEncryptedAt(config)).rejects.toMatchObject({ message: expect.stringContaining('is not accepted') });
  writeFileSync(path, SELF_SIGNED.cert);
  expect(await isEncryptedAt(config)).toBe(true);
  rmSync(path);
  expect(await isEncryptedAt(config)).toBe(true);
});

const readPlace = (host: string, query: string) =>
  parseDatabaseUrl(`postgres://postgres@${host}:${port}/postgres${query}`);

async function isEncrypted(host: string, query: string): Promise<boolean> {
  return isEncryptedAt(await readPlace(host, query));
}

async function isEncryptedAt(config: Awaited<ReturnType<typeof readPlace>>): Promise<boolean> {
  const database = openDatabase(config);
  try {
    const [row] = await database.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return row?.ssl === true;
  } finally {
    await database.close();
  }
}

function writeForServer(name: string, text: string): string {
  const path = join(server.directory, name);
  writeFileSync(path, text);
  const { uid, gid } = statSync(server.directory);
  chownSync(path, uid, gid);
  chmodSync(path, 0o600);
  return path;
}
