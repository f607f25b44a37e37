import type { ClaimedPart, WorkerStore, WorkingRun } from '../store.js';
import type { Database } from './database.js';

export function createWorkerStore({ call, query }: Database): WorkerStore {
  return {
    beat: async (worker, { name, leaseMs, life, sent }) => {
      const calls = sent && JSON.stringify(sent.calls);
      const [beat] = await call<Awaited<ReturnType<WorkerStore['beat']>>>(
        'beat',
        ...[worker, name, leaseMs, life, calls, sent?.births],
      );
      return beat ?? { isAlive: false, life: '' };
    },
    findRun: async ({ run, job }) => {
      const [found] = await query(
        `select id as run, born, epoch::float8, digest, volley.is_claimable(r, step, present) as "isOpen", coalesce(step, 0) as step,
             provisioned_ids as "provisionedIds"
           from volley.run r, volley.present_life() as present
           where id = coalesce($1, id) and job = coalesce($2, job)
           order by "isOpen" desc, exists (select from volley.part p where p.run = r.id and p.step = r.step and p.state = 'open') desc,
             random()
           limit 1`,
        [run ?? null, job ?? null],
      );
      return found as unknown as WorkingRun | undefined;
    },
    claim: async ({ worker, run, step }, { count, holding, epoch }) => {
      const rows = await call<ClaimedRow>('claim', worker, run, step, epoch, count, JSON.stringify(holding));
      const parts = rows.filter(({ request }) => request !== null);
      return {
        parts: parts.map(({ isOpen: _, nonce, ...part }) => ({ ...part, nonce: nonce ?? undefined })),
        isOpen: rows[0]?.isOpen === true,
      };
    },
    append: async ({ worker, run, step }, entries, number) => {
      // The result is a text of its own: in JSON of the server no character may be NUL, and an answer of the service may be in it.
      const all = entries.map((entry, index) => {
        const { type, request, part, attempt, nonce } = entry;
        const begin = { index, type, request, part, attempt, nonce };
        if (entry.type === 'begin') return begin;
        return { ...begin, outcome: entry.result.kind, result: JSON.stringify(entry.result), halves: entry.halves };
      });
      const [row] = await call<Awaited<ReturnType<WorkerStore['append']>>>(
        'append',
        ...[worker, number, run, step, JSON.stringify(all)],
      );
      return row ?? { refused: entries.map((_, index) => index), life: '' };
    },
    leave: async (worker) => {
      await query(
        `with gone as (update volley.worker set gone_at = clock_timestamp() from volley.present_life() where id = $1 and gone_at is null)
         update volley.part set state = 'open', owner = null where owner = $1 and state = 'claimed'`,
        [worker],
      );
    },
    recover: async () => {
      await call('recover');
    },
    askToStop: async (run, { epoch, reason, detail }) => {
      // An answer of the service may be in it, and no text of PostgreSQL has a NUL.
      await query(
        `update volley.run set stop_reason = $3, stop_detail = $4 from volley.present_life()
           where id = $1 and epoch = $2 and stop_reason is null`,
        [run, epoch, reason, detail.replaceAll('\u0000', '')],
      );
    },
  };
}

/** No request: there is nothing to claim. */
type ClaimedRow = Omit<ClaimedPart, 'nonce'> & { readonly isOpen: boolean; readonly nonce: string | null };
