import type { Addresses } from '../job/job.js';

/** So many of the latest are kept, some 10 MB: an answer that belongs to another request comes soon after that one's own. */
const MOST_IDS = 100_000;

/** A request is known by its body, the one thing that is there both when it is built and when its answer is read. */
const serviceOf = new WeakMap<Buffer, Addresses>();
const idsOf = new WeakMap<Addresses, Set<string>>();

/** Says which service the request with this body goes to. */
export function noteRequest(body: Buffer, service: Addresses): void {
  serviceOf.set(body, service);
}

/**
 * False when the service gave this conversation to another row before: no answer tells whose it is, so this is how an answer
 * that belongs to another request shows. Only ids that came to this process count, not those that a resumed run finds in its journal.
 */
export function takeConversationId(body: Buffer, id: string): boolean {
  const service = serviceOf.get(body);
  if (service === undefined) return true;
  const ids = idsOf.get(service) ?? new Set();
  idsOf.set(service, ids);
  if (ids.has(id)) return false;
  ids.add(id);
  if (ids.size > MOST_IDS) {
    const [oldest = ''] = ids;
    ids.delete(oldest);
  }
  return true;
}
