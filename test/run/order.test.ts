import { describe, expect, it } from 'vitest';
import { aPlanOfBatches, linesOf } from '../plan/a-plan.js';
import { aRun, aScriptedService } from './a-run.js';

/** The order of what happened: journal lines as they become durable, gates passed, calls sent. */
async function traceOf(concurrency: number): Promise<string[]> {
  const made = await aPlanOfBatches(12, { concurrency });
  const trace: string[] = [];
  const path = `${made.directory}/journal.ndjson`;
  let synced = 0;
  const noteDurable = () => {
    const lines = linesOf(made.disk.readText(path));
    for (const line of lines.slice(synced)) {
      const { type, request } = JSON.parse(line);
      trace.push(request === undefined ? type : `${type} ${request} durable`);
    }
    synced = lines.length;
  };
  // What was written before a sync is durable only behind it: noted when the next thing happens on the disk or the wire.
  let isSyncing = false;
  const settle = () => {
    if (isSyncing) noteDurable();
    isSyncing = false;
  };
  made.disk.onOperation = (operation) => {
    settle();
    if (operation === `datasync ${path}`) isSyncing = true;
  };
  const service = aScriptedService((sent) => {
    settle();
    trace.push(`send ${1 + sent.rows[0]! / 2}`);
    return undefined;
  });
  await aRun({
    made,
    service,
    onGate: async () => {
      settle();
      trace.push('gate');
    },
    deps: {
      onProgress: ({ accepted }) => {
        settle();
        trace.push(`${accepted} counted`);
      },
    },
  });
  settle();
  return trace;
}

describe('order of a request', () => {
  it('counts a row only behind its outcome', async () => {
    const trace = await traceOf(1);
    for (let request = 1; request <= 6; request++) {
      expect(trace.indexOf(`${request * 2} counted`)).toBeGreaterThan(trace.indexOf(`outcome ${request} durable`));
    }
  });

  it.each([1, 4])('is intent durable, gate, sent, outcome durable, with %i in flight', async (concurrency) => {
    const trace = await traceOf(concurrency);
    expect([trace[0], trace.at(-1)]).toEqual(['open', 'close']);
    for (let request = 1; request <= 6; request++) {
      const places = ['intent # durable', 'send #', 'outcome # durable'].map((each) =>
        trace.indexOf(each.replace('#', String(request))),
      );
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(places).not.toContain(-1);
      const gatesBefore = trace.slice(0, places[1]).filter((each) => each === 'gate').length;
      const sendsBefore = trace.slice(0, places[1]).filter((each) => each.startsWith('send')).length;
      expect(gatesBefore).toBeGreaterThan(sendsBefore);
    }
    expect(trace.filter((each) => each.startsWith('send'))).toHaveLength(6);
    // Entries of several in flight share a sync.
    if (concurrency > 1) expect(trace.join()).toMatch(/(intent|outcome) \d durable,(intent|outcome) \d durable/);
  });
});
