import { UserError } from '../domain/errors.js';
import { coalesce } from '../storage/coalesce.js';
import type { Files } from '../storage/files.js';
import { type Identity, identityOf, isSameIdentity } from '../storage/identity.js';
import type { Lock } from '../storage/lock.js';

/**
 * Stops a runner under which its journal was removed, or another put in its place. The lock is looked at last: a runner that sleeps
 * between the two finds on waking that another has taken it.
 */
export function watchJournal(files: Files, path: string, lock: Lock): Lock {
  let known: Identity | undefined;
  return {
    ...lock,
    // Requests in flight together share a look, as they share a sync.
    assertHeld: coalesce(async () => {
      const found = await files.stat(path);
      await lock.assertHeld();
      const now = found === undefined ? undefined : identityOf(path, found);
      known ??= now;
      // Before it is made there is none.
      if (known === undefined || (now !== undefined && isSameIdentity(known, now))) return;
      throw new UserError(
        'registry-mismatch',
        `Cannot continue: ${path} was ${now === undefined ? 'removed' : 'replaced'} while the run wrote to it`,
        { hint: 'Nothing more was sent. Put it back from a backup, and see `volley status`.' },
      );
    }),
  };
}
