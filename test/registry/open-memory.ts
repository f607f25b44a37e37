import { accountOfKind } from '../../src/job/job.js';
import type { RunBegun } from '../../src/plan/format/run-record.js';
import { readSealed } from '../../src/plan/format/sealed-json.js';
import type { PlanClaims } from '../../src/registry/claims.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';
import { openRegistry } from '../../src/registry/open-registry.js';
import type { Files } from '../../src/storage/files.js';
import type { Lock } from '../../src/storage/lock.js';
import { aJob } from '../plan/a-plan.js';
import { FakeClock } from '../run/fake-clock.js';
import type { MemoryDisk } from '../storage/a-memory-disk.js';

export const JOB = '/out/sale';
export const PATH = `${JOB}/memory-000001.json`;

/** `revision`: of the memory, as the last owner noted it. */
export function aLock(revision?: number, epoch = 1): Lock {
  return {
    ...{ epoch, lastOwnedMsAgo: undefined },
    ...{ assertHeld: async () => {}, assertFresh: () => {}, release: async () => {} },
    known: (key) => (key === 'memory' ? revision : undefined),
    ...{ isReplaced: false, attest: async () => {}, note: async () => {} },
  };
}

type Opening = Readonly<{ lock?: Lock; adoptedBy?: string; notices?: string[] }>;

export async function openOn(files: Files, { lock = aLock(), adoptedBy, notices = [] }: Opening = {}) {
  await files.makeDirectory(JOB);
  const deps = { files, clock: new FakeClock(), owner: { host: 'a', pid: 1, instance: 'x' } };
  return openRegistry(deps, { jobDirectory: JOB, lock, adoptedBy, onNotice: (notice) => notices.push(notice) });
}

export const open = (disk: MemoryDisk, opening?: Opening) => openOn(disk.files, opening);
export const documentOf = (disk: MemoryDisk, epoch = 1): MemoryDocument =>
  readSealed(disk.readText(`${JOB}/memory-00000${epoch}.json`));
export const MISMATCH = { code: 'registry-mismatch' };
export const begun: RunBegun = { at: 1, name: 'p', planSha256: '', occurrence: '', retryOf: 'other', files: [] };

export function claimsOf(plan: string): PlanClaims {
  const rows = [{ kind: 'sms', account: accountOfKind(aJob(), 'sms'), from: `${plan}-source-1-`, rows: '0,3' }];
  return { at: 1, plan, by: 're-import', occurrence: '', retryOf: null, count: 3, rows };
}
