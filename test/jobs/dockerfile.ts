import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type Instruction = Readonly<{ name: string; text: string }>;

export type Stage = Readonly<{ base: string; name: string | undefined; instructions: readonly Instruction[] }>;

/** Absolute path of the checkout. */
export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));

/** The stages of the Dockerfile, comments left out and continued lines joined; a base that is an argument has its default. */
export function readDockerfile(): Stage[] {
  const lines = readFileSync(`${ROOT}Dockerfile`, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const defaults: Record<string, string> = {};
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'ARG' && stages.length === 0) Object.assign(defaults, Object.fromEntries([text.split('=')]));
    else if (name === 'FROM') {
      const [from = '', , stage] = text.split(/\s+/);
      const base = from.replace(/^\$\{(\w+)\}$/, (_, argument) => defaults[argument] ?? '');
      stages.push({ base, name: stage, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

/** The argument of the last instruction of that name in a stage. */
export function lastOf(stage: Stage, name: string): string | undefined {
  return stage.instructions.findLast((instruction) => instruction.name === name)?.text;
}
