import type { FileFacts } from './files.js';

/** Identifies a file or directory. */
export interface Identity {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
  /** 0: unknown. */
  readonly bornMs: number;
}

export function identityOf(path: string, { device, inode, bornMs }: FileFacts): Identity {
  return { path, device, inode, bornMs };
}

/**
 * Whether two identities are of the same file or directory: a moved one is the same, a copy is not, even if it reuses
 * an inode. A volume that is mounted again may have another device: that counts only where there is no birth time.
 */
export function isSameIdentity(one: Identity, other: Identity): boolean {
  if (one.inode === 0 || other.inode === 0) return true;
  if (one.inode !== other.inode) return false;
  if (one.bornMs !== 0 && other.bornMs !== 0) return one.bornMs === other.bornMs;
  return one.device === other.device || one.path === other.path;
}
