import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Something that not every machine has and not every container may use. Tests without it are skipped, and their title says why. */
export type Need = Readonly<{ isMissing: boolean; title: (text: string) => string }>;

export function needStrace(): Need {
  return need(() => spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0, 'strace cannot be used here');
}

export function needKubectl(): Need {
  return need(() => spawnSync('kubectl', ['kustomize', '--help']).status === 0, 'there is no kubectl here');
}

/** For a script that is process 1, and signals others. */
export function needPidNamespace(): Need {
  return need(
    () => spawnSync('unshare', [...IN_PID_NAMESPACE, 'true']).status === 0,
    'no process may be process 1 here',
  );
}

export const IN_PID_NAMESPACE = ['--map-root-user', '--pid', '--fork', '--mount-proc'] as const;

/** Of Debian's package `prometheus`. */
export function needPromtool(): Need {
  return need(() => spawnSync('promtool', ['--version']).status === 0, 'there is no promtool here');
}

/** Of util-linux: gives a command a terminal. */
export function needTerminal(): Need {
  return need(() => spawnSync('script', ['-qfec', 'true', '/dev/null']).status === 0, 'no terminal can be had here');
}

export function needNginx(): Need {
  return need(() => spawnSync('nginx', ['-v']).status === 0, 'there is no nginx here');
}

/** Of Debian's package; beyond the path of a user. */
export function needPgbouncer(): Need {
  return need(() => spawnSync(PGBOUNCER, ['--version']).status === 0, 'there is no pgbouncer here');
}

export const PGBOUNCER = existsSync('/usr/sbin/pgbouncer') ? '/usr/sbin/pgbouncer' : 'pgbouncer';

/** With VOLLEY_REQUIRE_TOOLS=1 nothing is skipped: what is missing is an error. */
function need(isThere: () => boolean, reason: string): Need {
  const isMissing = !isThere();
  if (isMissing && process.env.VOLLEY_REQUIRE_TOOLS === '1') throw new Error(`VOLLEY_REQUIRE_TOOLS=1, but ${reason}`);
  return { isMissing, title: (text) => (isMissing ? `${text} [skipped: ${reason}]` : text) };
}
