import { PROGRAM } from '../../domain/program.js';

/** What --version prints; the version is the first word. */
export function describeProgram(): string {
  const { version, revision, formats } = PROGRAM;
  return `${version} (revision ${revision}; plan format ${formats.plan}, packed ${formats.packed}, journal ${formats.journal}, registry ${formats.registry})`;
}
