import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Absolute path of the checkout. */
export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));

/** The stages of the Dockerfile, comments left out and continued lines joined. */
export function readDockerfile(): Stage[] {
  const lines = readFileSync(`${ROOT}Dockerfile`, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') {
      const [base = '', , stage] = text.split(/\s+/);
      stages.push({ base, name: stage, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

/** The argument of the last instruction of that name in a stage. */
export function lastOf(stage: Stage, name: string): string | undefined {
  return stage.instructions.findLast((instruction) => instruction.name === name)?.text;
}
