import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { aContactsStep, anSmsStep, people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { needStrace } from './of-the-machine.js';

const WATCHED = 'openat,write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync,rename,renameat,renameat2';
const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'sendto', 'sendmsg'];
const PEOPLE = 40;

const strace = needStrace();

/** One system call of a traced process: where it began and where it came back among all events of its threads. */
type SystemCall = Readonly<{ name: string; args: string; result: string; start: number; end: number }>;

describe.skipIf(strace.isMissing)(strace.title('the system calls of a run'), () => {
  let workspace: Workspace;
  let calls: readonly SystemCall[] = [];

  beforeAll(async () => {
    // A refusal for rate and a batch that is halved: what is sent again has an intent of its own, too.
    workspace = await aWorkspace(
      { kind: 'status-503', area: 'sms', nth: 2, retryAfter: 0 },
      { kind: 'status-400', area: 'sms', nth: 4 },
      { kind: 'latency', delayMs: 30 },
    );
    workspace.write('people.csv', people(PEOPLE));
    const limits = { requestsPerSecond: 1000, concurrency: 4 };
    workspace.change({ steps: [aContactsStep({ limits }), anSmsStep({ batchSize: 5, limits })] });
    // Through io_uring a file would be written without a call that can be seen.
    const tracer = ['strace', '-f', '-yy', '-s', '1000000', '-e', `trace=${WATCHED}`, '-o', workspace.path('trace')];
    const { code, stderr } = await workspace.runUnder(tracer, { env: { UV_USE_IO_URING: '0' } });
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    calls = parseTrace(workspace.read('trace'));
  });

  test('no request leaves before the sync of its own intent has come back', async () => {
    const syncs = calls.filter((call) => call.name === 'fdatasync' && isJournal(call));
    const left = new Map<string, number>();
    let requests = 0;
    for (const call of calls.filter(isRequest)) {
      requests += 1;
      const step = call.args.includes('/messages/batch') ? 2 : 1;
      const rows = [...call.args.matchAll(/65910000(\d\d)/g)].map(([, digits]) => Number(digits) - 1);
      expect(rows.length).toBeGreaterThan(0);
      const sync = syncs.findLast(({ end, result }) => end < call.start && result === '0');
      const durable = intentsBefore(sync?.start ?? 0);
      for (const row of new Set(rows)) {
        const key = `${step} ${row}`;
        left.set(key, (left.get(key) ?? 0) + 1);
        expect(durable.filter((intent) => intent === key).length, `row ${key}`).toBeGreaterThanOrEqual(
          left.get(key) ?? 0,
        );
      }
    }
    expect(requests).toBe(workspace.requests().length);
    expect(left.size).toBe(2 * PEOPLE);
    expect(Math.max(...left.values())).toBeGreaterThan(1);
  });

  test('a file has its name only once it is synced, and every name is synced before the first request, or the end', () => {
    const firstRequest = calls.find(isRequest)?.start ?? 0;
    const named = calls.flatMap((call) => {
      const [from, to] = [...call.args.matchAll(/"([^"]*)"/g)].map(([, path]) => path);
      return call.name.startsWith('rename') && from !== undefined && to !== undefined ? [{ call, from, to }] : [];
    });
    const made = calls.flatMap((call) => {
      const [, path] = /"([^"]*)", \S*O_CREAT/.exec(call.args) ?? [];
      if (call.name !== 'openat' || path === undefined || path.endsWith('.part')) return [];
      return path.startsWith(workspace.path('out')) ? [{ call, from: undefined, to: path }] : [];
    });
    expect(named.map(({ to }) => to)).toContain(workspace.path(`${workspace.firstRun()}/summary.json`));
    expect(made.map(({ to }) => to)).toContain(workspace.path(`${workspace.firstRun()}/journal.ndjson`));
    for (const { call, from, to } of [...named, ...made]) {
      const syncs = calls.filter(({ name, result }) => name === 'fsync' && result === '0');
      const isWhole = from === undefined || syncs.some((sync) => fileOf(sync) === from && sync.end < call.start);
      const sync = syncs.find((sync) => fileOf(sync) === dirname(to) && sync.start > call.end);
      expect([to, isWhole, sync !== undefined]).toEqual([to, true, true]);
      if (call.start < firstRequest) expect([to, (sync?.end ?? 0) < firstRequest]).toEqual([to, true]);
    }
  });

  test('outputs get their rows and names only when all that they tell is synced', () => {
    const lastWrite = calls.findLast((call) => WRITES.includes(call.name) && isJournal(call));
    const lastSync = calls.findLast((call) => call.name === 'fdatasync' && isJournal(call));
    // The files are there before, while the run sends; so few rows are written at the end.
    const outputs = calls.filter((call) => WRITES.includes(call.name) && fileOf(call)?.includes('.results.csv.'));
    const names = calls.filter(({ name, args }) => name.startsWith('rename') && args.includes('.results.csv'));
    expect(lastWrite?.args).toContain('"type":"close"');
    expect(lastWrite?.end).toBeLessThan(lastSync?.start ?? 0);
    expect([outputs.length > 0, names.length]).toEqual([true, 2]);
    for (const { start } of [...outputs, ...names]) expect(lastSync?.end).toBeLessThan(start);
  });

  /** `<step> <row>` of every intent that was written whole before the place. */
  function intentsBefore(place: number): string[] {
    const writes = calls.filter((call) => WRITES.includes(call.name) && isJournal(call) && call.end < place);
    const found = writes.flatMap(({ args }) => [
      ...args.matchAll(/"type":"intent","step":(\d+),[^}]*?"rows":\[(\d+),(\d+)\]\}\n/g),
    ]);
    return found.flatMap(([, step, first, count]) =>
      Array.from({ length: Number(count) }, (_, index) => `${step} ${Number(first) + index}`),
    );
  }
});

function isJournal(call: SystemCall): boolean {
  return fileOf(call)?.endsWith('/journal.ndjson') === true;
}

/** Bytes to the service. */
function isRequest({ name, args }: SystemCall): boolean {
  return WRITES.includes(name) && /^\d+<TCP/.test(args) && args.includes('POST ');
}

/** Reads what `strace -f -yy` wrote. Only calls that came back are given, in the order in which they did. */
function parseTrace(text: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const begun = new Map<string, { name: string; args: string; start: number }>();
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', event = ''] = /^(\d+) +(.*)$/s.exec(line) ?? [];
    const [, opened, openedArgs] = /^(\w+)\((.*) <unfinished \.\.\.>$/s.exec(event) ?? [];
    if (opened !== undefined && openedArgs !== undefined) {
      begun.set(thread, { name: opened, args: openedArgs, start: at });
      continue;
    }
    const [, rest, resumedResult] = /^<\.\.\. \w+ resumed>(.*)\) += (.*)$/s.exec(event) ?? [];
    const first = begun.get(thread);
    if (rest !== undefined && resumedResult !== undefined && first !== undefined) {
      begun.delete(thread);
      calls.push({ ...first, args: unescapeText(first.args + rest), result: resumedResult, end: at });
      continue;
    }
    const [, name, args, result] = /^(\w+)\((.*)\) += (.*)$/s.exec(event) ?? [];
    if (name === undefined || args === undefined || result === undefined) continue;
    calls.push({ name, args: unescapeText(args), result, start: at, end: at });
  }
  return calls;
}

/** The file of a call whose first argument is a descriptor; undefined for a socket. */
function fileOf({ args }: SystemCall): string | undefined {
  return /^\d+<(\/[^>]*)>/.exec(args)?.[1];
}

function unescapeText(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => ({ n: '\n', r: '\r', t: '\t' })[character] ?? character);
}
