import { describe, expect, it } from 'vitest';
import { encodeLine } from '../../src/journal/entry-format.js';
import { watchJournal } from '../../src/registry/find-faults.js';
import { readHistory } from '../../src/registry/read-runs.js';
import { RegistryState } from '../../src/registry/registry-state.js';
import { StopSwitch } from '../../src/run/stop.js';
import { acquireLock } from '../../src/storage/lock.js';
import { LEASE_MS, type LockPorts } from '../../src/storage/lock-file.js';
import { aPlanOfBatches, linesOf, type MadePlan } from '../plan/a-plan.js';
import { LOST, lostAtGate } from './a-lost-lock.js';
import { aRun, aScriptedService, duplicatesAmong, entriesOf, journalOf, reportOf, writeJournal } from './a-run.js';
import { FakeClock } from './fake-clock.js';

describe('a lock that is lost while a request waits at the gate', () => {
  it.each([1, 4])(
    'keeps it from leaving, where %i may be in flight; the next run sends what it held',
    async (concurrency) => {
      const made = await aPlanOfBatches(6, { concurrency });
      const service = aScriptedService();
      await expect(aRun({ made, service, ...lostAtGate() })).rejects.toBe(LOST);
      expect(service.sent).toEqual([]);

      await aRun({ made, service, epoch: 2 });
      expect(service.accepted).toHaveLength(6);
      expect((await reportOf(made)).balance).toMatchObject({ accepted: 6, inDoubt: 0 });
    },
  );

  it('gets an outcome for each request: not sent, for certain', async () => {
    const made = await aPlanOfBatches(6);
    await expect(aRun({ made, ...lostAtGate(1) })).rejects.toBe(LOST);
    const entries = entriesOf(made.disk, made.directory);
    const kinds = entries.flatMap((entry) => (entry.type === 'outcome' ? entry.result.kind : []));
    expect(kinds.sort()).toEqual(['again', 'again', 'settled']);
  });

  it('keeps it from leaving as well where only the clocks tell it', async () => {
    const made = await aPlanOfBatches(6);
    const service = aScriptedService();
    // The first time before the intent, then behind the look at the gate.
    let asked = 0;
    const assertFresh = () => {
      asked += 1;
      if (asked > 1) throw LOST;
    };
    await expect(aRun({ made, service, lock: { assertFresh } })).rejects.toBe(LOST);
    expect(service.sent).toEqual([]);
    expect(entriesOf(made.disk, made.directory).at(-1)).toMatchObject({ result: { kind: 'again' } });
  });
});

describe('a run that lost its lock', () => {
  const assertFresh = () => {
    throw LOST;
  };

  it('writes no intent for a request, nor sends one, after its clocks tell it', async () => {
    const made = await aPlanOfBatches(6);
    const service = aScriptedService();
    await expect(aRun({ made, service, lock: { assertFresh } })).rejects.toBe(LOST);
    expect([service.sent, entriesOf(made.disk, made.directory).map(({ type }) => type)]).toEqual([[], ['open']]);
  });

  it('says so, also where the requests that it reads cannot be closed then', async () => {
    const made = await aPlanOfBatches(6);
    const { files } = made.disk;
    let isLost = false;
    const openRead: typeof files.openRead = async (path) => {
      const file = await files.openRead(path);
      const close = async () => {
        await file.close();
        if (isLost) throw new Error('EIO');
      };
      return { ...file, close };
    };
    const lose = () => {
      isLost = true;
      throw LOST;
    };
    const run = aRun({ made, lock: { assertFresh: lose }, deps: { files: { ...files, openRead } } });
    await expect(run).rejects.toBe(LOST);
  });

  it('while the journal was read writes nothing: it may have read the lines of its successor', async () => {
    const made = await aPlanOfBatches(6);
    await expect(aRun({ made, lock: { assertHeld: () => Promise.reject(LOST) } })).rejects.toBe(LOST);
    expect(made.disk.list(made.directory)).not.toContain('journal.ndjson');
  });

  it('behind its last request does not close the run', async () => {
    const made = await aPlanOfBatches(12);
    const service = aScriptedService();
    const assertHeld = async () => {
      if (service.sent.length === 6) throw LOST;
    };
    await expect(aRun({ made, service, lock: { assertHeld } })).rejects.toBe(LOST);
    expect(entriesOf(made.disk, made.directory).map(({ type }) => type)).not.toContain('close');
  });

  it('has no last word: its late line does not make an unfinished run look finished', async () => {
    const made = await aPlanOfBatches(6);
    const stop = new StopSwitch();
    stop.request('unauthorized', 'HTTP 401');
    await aRun({ made, stop, epoch: 2 });
    const late = { type: 'close', at: 1, reason: 'finished', detail: '' } as const;
    const line = encodeLine({ epoch: 1, seq: 3, durable: 2, entry: late }).toString();
    writeJournal(made, [...linesOf(journalOf(made)), ...linesOf(line)]);
    const [run] = await readHistory(made.disk.files, '/out/sale', new RegistryState());
    expect(run?.state).toBe('stopped');
  });
});

it.each(['removed', 'replaced'])(
  'a journal that is %s before the first request leaves keeps it from leaving',
  async (how) => {
    const made = await aPlanOfBatches(6);
    const { files } = made.disk;
    const held = await acquireLock(depsOf(made, 1, new FakeClock()), '/out/job');
    const path = `${made.directory}/journal.ndjson`;
    const service = aScriptedService();
    const onGate = async () => {
      await files.remove(path);
      if (how === 'replaced') await files.writeWhole(path, '');
    };

    const run = aRun({ made, service, lock: watchJournal(files, path, held), onGate });

    await expect(run).rejects.toMatchObject({ code: 'registry-mismatch' });
    expect(service.sent).toEqual([]);
    await held.release();
  },
);

describe('two runners, of which one has clocks that stood still', () => {
  /** Another takes the job, and applies the plan to its end, right after the first one learnt for the n-th time that it holds the lock. */
  async function overtakenAfter(made: MadePlan, look: number) {
    const service = aScriptedService();
    const clock = new FakeClock();
    const take = (pid: number, own: FakeClock) => acquireLock(depsOf(made, pid, own), '/out/job');
    const slept = await take(1, clock);
    let looks = 0;
    const overtake = async () => {
      const ahead = new FakeClock();
      ahead.jump({ wallMs: LEASE_MS, steadyMs: 0 });
      const taken = await take(2, ahead);
      await aRun({ made, service, epoch: taken.epoch, lock: taken });
      await taken.release();
    };
    const assertHeld = async () => {
      await slept.assertHeld();
      looks += 1;
      if (looks === look) await overtake();
    };
    const { assertFresh, release } = slept;
    const ended = aRun({ made, service, lock: { assertFresh, assertHeld, release } });
    await expect(ended).rejects.toMatchObject({ code: 'lock-held' });
    await release();
    return service;
  }

  // Looks: as the journal was read, as the run was opened, at the gate.
  it.each([
    [1, 0],
    [2, 0],
    [3, 6],
  ])('send no row twice, and lose none: overtaken after look %i', async (look, inDoubt) => {
    const made = await aPlanOfBatches(6, { batchSize: 6 });
    const service = await overtakenAfter(made, look);
    expect(duplicatesAmong(service.accepted)).toEqual([]);
    expect(service.accepted).toHaveLength(6);
    expect((await reportOf(made)).balance).toMatchObject({ accepted: 6 - inDoubt, inDoubt });
  });

  it('hold what was about to leave, and send no row twice, where several are in flight', async () => {
    const made = await aPlanOfBatches(6, { concurrency: 4 });
    const service = await overtakenAfter(made, 4);
    expect(duplicatesAmong(service.accepted)).toEqual([]);
    const { balance } = await reportOf(made);
    expect(balance).toMatchObject({ accepted: 6 - balance.inDoubt, unprocessed: 0 });
    expect(service.accepted.length).toBeGreaterThanOrEqual(balance.accepted);
  });
});

function depsOf({ disk }: MadePlan, pid: number, clock: FakeClock): LockPorts {
  return { files: disk.files, clock, owner: { host: `h${pid}`, pid, instance: `i${pid}` }, isProcessAlive: () => true };
}
