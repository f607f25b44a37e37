import { isRowKind, ROW_KINDS } from '../../domain/areas.js';
import { addressFields } from '../../domain/contact-fields.js';
import { type Finding, isMapping, namePath } from '../explain/finding.js';
import { listSteps, type WrittenStep } from '../explain/written-steps.js';

/** Rules across the keys of a step, and across the steps of a job. */
export function checkSteps(job: unknown): Finding[] {
  const steps = listSteps(job);
  return [...requireRows(job, steps), ...steps.flatMap(checkStep)];
}

/** A job is for bulk: what has no rows needs no plan, journal and results. */
function requireRows(job: unknown, steps: readonly WrittenStep[]): Finding[] {
  const written = isMapping(job) && Array.isArray(job.steps) ? job.steps.length : 0;
  // A step of an unknown kind may have been meant as one with rows.
  if (steps.length === 0 || steps.length < written || steps.some(({ kind }) => isRowKind(kind))) {
    return [];
  }
  return [
    {
      at: ['steps'],
      message: `steps has no step with rows, expected at least one of kind ${Object.keys(ROW_KINDS).join(', ')}`,
      hint: 'For a single call use volley campaign set or volley chat post.',
    },
  ];
}

function checkStep(step: WrittenStep): Finding[] {
  switch (step.kind) {
    case 'contacts':
      return requireAddress(step);
    case 'verification.start':
      return requireBrand(step);
    case 'conversations':
      return requireUser(step);
    case 'campaign':
      return requirePurpose(step);
    default:
      return [];
  }
}

function requireAddress({ step, at }: WrittenStep): Finding[] {
  const { fields } = step;
  if (!isMapping(fields) || addressFields.some((field) => field in fields)) return [];
  return [
    {
      at: [...at, 'fields'],
      message: `${namePath([...at, 'fields'])} maps no address, expected at least one of ${addressFields.join(', ')}`,
      hint: 'The service refuses a contact without an address. Write, for example, msisdn: mobile.',
    },
  ];
}

/** Without a brand the service does not replace {brand}. */
function requireBrand({ step, at }: WrittenStep): Finding[] {
  if (typeof step.template !== 'string' || !step.template.includes('{brand}') || step.brand !== undefined) return [];
  return [
    {
      at: [...at, 'brand'],
      message: `${namePath([...at, 'brand'])} is missing, expected the name that replaces {brand} in the template`,
      hint: 'Write brand: <name>, or remove {brand} from the template.',
    },
  ];
}

function requireUser({ step, at }: WrittenStep): Finding[] {
  const { user } = step;
  if (!isMapping(user)) return [];
  const { additionalProperties: more, ...fields } = user;
  const isMoreEmpty = more === undefined || (isMapping(more) && Object.keys(more).length === 0);
  if (Object.keys(fields).length > 0 || !isMoreEmpty) return [];
  return [
    {
      at: [...at, 'user'],
      message: `${namePath([...at, 'user'])} names no column, expected at least one of language, name, email, phone, additionalProperties`,
      hint: 'Write, for example, name: <column>. Without this key, the column user is read as a JSON object.',
    },
  ];
}

function requirePurpose({ step, at }: WrittenStep): Finding[] {
  if (step.set !== undefined || step.expect !== undefined) return [];
  return [
    {
      at,
      message: `${namePath(at)} neither sets nor expects a status, expected set or expect`,
      hint: 'Write set: PAUSED to change the campaign, or expect: RUNNING to stop if it has another status.',
    },
  ];
}
