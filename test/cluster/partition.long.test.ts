import { once } from 'node:events';
import { beforeAll, expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { COMMAND } from '../e2e/command.js';
import { CLUSTER } from './a-cluster.js';
import { tick } from './a-hand.js';
import { startDatabaseProxy } from './database-proxy.js';
import { openNetworkNamespace } from './network-namespace.js';
import { openTestDatabase, type PostgresServer, startPostgres } from './postgres-server.js';

const ROWS = 400;
const IN_FLIGHT = 4;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});

test('a worker whose network is cut for longer than its lease sends nothing twice; the others send the rest', async ({
  skip,
}) => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(ROWS));
  const limits = { requestsPerSecond: 20, messagesPerSecond: 25_000, concurrency: IN_FLIGHT };
  const service = { timeouts: { answerSeconds: 5 } };
  const steps = [anSmsStep({ batchSize: 1, limits })];
  workspace.writeJob(aJob(workspace, { cluster: { ...CLUSTER, leaseSeconds: 15 }, service, steps }));
  const name = await server.createVolleyDatabase();
  // Over TCP: the server's socket is there in every namespace.
  const proxy = await startDatabaseProxy(server.directory);
  const url = proxy.url(name);
  const portOf = (address: string) => Number(new URL(address).port);
  const network = await openNetworkNamespace([portOf(url), portOf(workspace.sandbox.origin)]);
  if (network === undefined) return skip('a network namespace takes root and `ip`');
  const database = openTestDatabase(server.url(name));
  const ofOthers =
    "from volley.part where owner in (select w.id from volley.worker w join volley.run r on r.leader not like w.name || ' %')";
  const env = { VOLLEY_DATABASE_URL: url };
  try {
    const args = ['work', 'job.yaml', '--until-done'];
    const worker = network.start(COMMAND, args, { cwd: workspace.directory, env: { ...workspace.env, ...env } });
    const closed = once(worker, 'close');
    let said = '';
    worker.stdout?.resume();
    worker.stderr?.on('data', (text) => {
      said += text;
    });
    const leader = workspace.start(['run', 'job.yaml'], { env });
    let isOver = false;
    leader.ended.then(() => {
      isOver = true;
    });
    const until = async (condition: string) => {
      while ((await database.query(`select ${condition} as is_so`))[0]?.is_so !== true) {
        expect(isOver).toBe(false);
        await tick();
      }
    };
    await until(`exists (select ${ofOthers} and state = 'under-way')`);
    const cutAtMs = performance.now();
    network.cut();
    await until(`not exists (select ${ofOthers})`);
    expect(performance.now() - cutAtMs).toBeGreaterThan(5_000);
    network.join();

    const { code } = await workspace.finish(leader);
    expect([0, 3]).toContain(code);
    expect([[0], [75]]).toContainEqual((await closed).slice(0, 1));
    expect(said).toContain('"event":"database-lost"');
    const sent = await workspace.destinations();
    expect(new Set(sent).size).toBe(sent.length);
    const { balance } = JSON.parse(workspace.read(`out/sale/${workspace.runs()[0]}/summary.json`));
    // As it is cut, and once more over connections that wait before they notice that it is whole again.
    expect(balance.inDoubt).toBeLessThanOrEqual(2 * IN_FLIGHT);
    expect(numbersOf(ROWS).filter((number) => !sent.includes(number)).length).toBeLessThanOrEqual(balance.inDoubt);
  } finally {
    await database.close();
    await network.close();
    await proxy.close();
  }
});
