import { expect, test } from 'vitest';
import { explainFailure, openDatabase, parseDatabaseUrl } from '../../src/cluster/postgres/database.js';
import { LeadLost, StoreLost } from '../../src/cluster/store.js';
import { InternalError, UserError } from '../../src/domain/errors.js';

test('a URL names host, port, database, user and password', async () => {
  expect(await parseDatabaseUrl('postgres://a%40b:p%3Aw%2F@db.example:6432/volley')).toEqual({
    host: 'db.example',
    port: 6432,
    database: 'volley',
    user: 'a@b',
    password: 'p:w/',
    ssl: { rejectUnauthorized: true },
  });
  const expected = { host: '/run/postgresql', port: 5432, ssl: false };
  expect(await parseDatabaseUrl('postgresql://u@localhost/d?host=/run/postgresql')).toMatchObject(expected);
  expect(await parseDatabaseUrl('postgres://u@[::1]/d')).toMatchObject({ host: '::1', ssl: false });
});

test.each([
  ['db.example', '', { rejectUnauthorized: true }],
  ['db.example', '?sslmode=verify-full', { rejectUnauthorized: true }],
  ['localhost', '?sslmode=verify-full', { rejectUnauthorized: true }],
  ['127.0.0.1', '?sslmode=disable', false],
])('connects to %s with %s as %o', async (host, query, ssl) => {
  expect(await parseDatabaseUrl(`postgres://u:p@${host}/d${query}`)).toMatchObject({ ssl });
});

test.each(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'nonsense'])(
  'beyond this machine sslmode=%s is refused',
  async (mode) => {
    const reading = parseDatabaseUrl(`postgres://u:topsecret@db.example/d?sslmode=${mode}`);
    await expect(reading).rejects.toMatchObject({ code: 'unsafe-environment' });
    await expect(reading).rejects.not.toThrow('topsecret');
  },
);

test.each([
  'topsecret',
  'mysql://u:topsecret@db/d',
  'postgres://u:topsecret@db.example',
  'postgres://u:topsecret@db.example/d?ssl=true',
  'postgres://u:topsecret@db.example/d?sslrootcert=/none/ca.crt',
  'postgres://u:%topsecret@db.example/d',
  'postgres://u:topsecret@db.example:port/d',
])('a URL that cannot be used is refused without showing it: %s', async (url) => {
  const failure = await parseDatabaseUrl(url).catch((error: Error) => error);
  expect(failure).toBeInstanceOf(UserError);
  expect(JSON.stringify([failure, (failure as Error).message])).not.toContain('topsecret');
});

test('a server that is not there is lost: the message names database, host and user, and not the password', async () => {
  const database = openDatabase(await parseDatabaseUrl('postgres://u:topsecret@127.0.0.1:1/d'));
  const failure = await database.query('select 1').catch((error: Error) => error);
  expect(failure).toEqual(new StoreLost('Cannot reach the database d at 127.0.0.1:1 as u: ECONNREFUSED'));
  expect((failure as Error).cause).toBeUndefined();
  await database.close();
});

test.each([
  ['08006', StoreLost],
  ['25006', StoreLost],
  ['40P01', StoreLost],
  ['53300', StoreLost],
  ['55000', StoreLost],
  ['55P03', StoreLost],
  ['57P01', StoreLost],
  ['58030', StoreLost],
  ['EPIPE', StoreLost],
  [undefined, StoreLost],
  ['VL001', LeadLost],
  ['28P01', UserError],
  ['28000', UserError],
  ['3D000', UserError],
  ['3F000', UserError],
  ['42501', UserError],
  ['SELF_SIGNED_CERT_IN_CHAIN', UserError],
  ['23505', InternalError],
])(
  'a failure %s is %o; of a server that let this process in before, a refused password or certificate is an outage',
  (code, kind) => {
    const database = { name: 'd at h:1 as worker', user: 'worker', wasReached: false, awaitsPassword: false };
    const explain = (over: Partial<typeof database>) =>
      explainFailure(Object.assign(new Error('of pg'), { code }), { ...database, ...over });
    expect(explain({})).toBeInstanceOf(kind);
    if (kind === StoreLost)
      expect(explain({}).message).toMatch(/^Cannot reach the database d at h:1 as worker: [a-z]/i);
    if (code === '42501') expect(explain({})).toMatchObject({ hint: expect.stringContaining('init --role worker`') });
    const meanwhile = kind === UserError && !/^(42501|3F000)$/.test(code ?? '') ? StoreLost : kind;
    expect(explain({ wasReached: true })).toBeInstanceOf(meanwhile);
    expect(explain({ awaitsPassword: true })).toBeInstanceOf(code === '28P01' ? StoreLost : kind);
  },
);

test.each([
  ['28000', 'no pg_hba.conf entry for host "h", user "worker", database "d", no encryption'],
  ['28000', 'connection requires a valid client certificate'],
  [undefined, 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'],
])('who is not let in reads why, in the words of the server: %s %s', (code, message) => {
  const database = { name: 'd at h:1 as worker', user: 'worker', wasReached: false, awaitsPassword: true };
  expect(explainFailure(Object.assign(new Error(message), { code }), database)).toMatchObject({
    code: 'bad-credentials',
    message: `Cannot use the database d at h:1 as worker: it refuses this process: ${message}`,
  });
});
