import { userInfo } from 'node:os';
import type { Runtime } from './runtime.js';

/** Who runs this command, for the journal: `ann on desk-7`. */
export function namePerson({ owner }: Pick<Runtime, 'owner'>): string {
  return `${nameUser()} on ${owner.host.split('/')[0]}`;
}

function nameUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
