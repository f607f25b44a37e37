import { suggestNearest } from '../../domain/suggest.js';
import { stepSchemas } from '../schema/steps.js';
import { writtenJob } from '../schema/written-job.js';
import { describePlace, findHomes } from './describe-place.js';
import { cut, type Finding, isSecret, namePath, type Path, valueAt } from './finding.js';

/** A key that is not known at `path` of the job `value`: which are, and where it is. */
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

/** Where a key is known that stands in a wrong place; in a step of some kind first further in, then in steps of other kinds. */
function findHome(key: string, path: Path, kind: unknown): string | undefined {
  if (kind !== undefined) {
    const own = stepSchemas
      .filter((step) => step.kind === kind)
      .flatMap(({ schema }) => findHomes(schema, key, 'steps'));
    if (own[0] !== undefined) return own[0];
    const others = stepSchemas.filter(({ schema }) => Object.hasOwn(schema.shape, key));
    if (others.length > 0) return `a step of kind ${others.map((step) => step.kind).join(' or ')}`;
  }
  const home = findHomes(writtenJob, key).find((place) => place.split('.').at(-1) !== path.at(-1));
  return home === '' ? 'the top of the file' : home;
}
