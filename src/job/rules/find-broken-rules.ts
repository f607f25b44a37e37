import { type Finding, isSecret, namePath, type Path } from '../explain/finding.js';
import { checkChatTexts } from './chat.js';
import { checkCost } from './check-cost.js';
import { checkSharedLimits } from './check-limits.js';
import { checkSteps } from './check-steps.js';
import { checkTest } from './check-test.js';
import { requireAccess } from './require-access.js';
import { checkSmsLists, checkSmsTexts } from './sms.js';

/**
 * Rules over several keys of a job file. They take the value as read, of any shape, so that their findings appear
 * beside those of the schema; wrong shapes are left to the schema.
 */
export function findBrokenRules(job: unknown): Finding[] {
  return [
    ...refuseReferences(job, []),
    ...requireAccess(job),
    ...checkCost(job),
    ...checkSharedLimits(job),
    ...checkSteps(job),
    ...checkTest(job),
    ...checkSmsTexts(job),
    ...checkSmsLists(job),
    ...checkChatTexts(job),
  ];
}

const REFERENCE = /\$\{([^}]*)\}?/;

/** `${NAME}` is not supported; texts for people may hold it, such as a price. */
function refuseReferences(value: unknown, path: Path): Finding[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) =>
      refuseReferences(inner, [...path, Array.isArray(value) ? Number(key) : key]),
    );
  }
  if (typeof value !== 'string' || !isAddressOrPath(path)) return [];
  const name = REFERENCE.exec(value)?.[1];
  if (name === undefined) return [];
  const hint = isSecret(path)
    ? `Write { env: ${/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : 'NAME'} } in place of the whole value.`
    : 'Write the value out.';
  return [{ at: path, message: `${namePath(path)} contains \${…}, which a job file does not replace`, hint }];
}

function isAddressOrPath(path: Path): boolean {
  return ['service', 'output', 'notify'].includes(String(path[0])) || path.includes('files');
}
