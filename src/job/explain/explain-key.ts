import { suggestNearest } from '../../domain/suggest.js';
import { stepSchemas } from '../schema/steps/steps.js';
import { writtenJob } from '../schema/written-job.js';
import { describePlace, findHomes } from './describe-place.js';
import { cut, type Finding, isSecret, namePath, type Path, valueAt } from './finding.js';

/** Explains an unknown key at `path` of the job `value`: which keys are known there, and where this one is. */
export function explainUnknownKey(key: string, path: Path, value: unknown): Finding {
  const at = [...path, key];
  const where = path.length === 0 ? 'a job file' : namePath(path);
  const name = isSecret(path) ? 'A key here' : JSON.stringify(cut(key));
  const { keys = [] } = describePlace(writtenJob, path, value);
  const nearest = suggestNearest(key, keys);
  if (nearest !== undefined) {
    return { at, message: `${name} is not a key of ${where}, expected ${nearest}`, hint: `Did you mean ${nearest}?` };
  }
  const isStep = path[0] === 'steps' && path.length === 2;
  const home = findHome(key, path, isStep ? valueAt(value, [...path, 'kind']) : undefined);
  return {
    at,
    message: `${name} is not a key of ${where}, expected one of ${keys.join(', ')}`,
    hint: home === undefined ? 'Remove it.' : `It belongs in ${home}.`,
  };
}

/** Where a misplaced key is known: in a step first deeper in the same kind, then in other kinds. */
function findHome(key: string, path: Path, kind: unknown): string | undefined {
  if (kind !== undefined) {
    const schemas = Object.entries(stepSchemas);
    const own = schemas.flatMap(([each, schema]) => (each === kind ? findHomes(schema, key, 'steps') : []));
    if (own[0] !== undefined) return own[0];
    const others = schemas.flatMap(([each, { shape }]) => (Object.hasOwn(shape, key) ? [each] : []));
    if (others.length > 0) return `a step of kind ${others.join(' or ')}`;
  }
  const home = findHomes(writtenJob, key).find((place) => place.split('.').at(-1) !== path.at(-1));
  return home === '' ? 'the top of the file' : home;
}
