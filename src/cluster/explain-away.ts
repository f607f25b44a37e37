import { ServiceError } from '../domain/errors.js';
import { StoreLost } from './store.js';

/** What a process says whose wait for the database is over; another error is left as it is. */
export function explainAway(error: unknown): unknown {
  if (!(error instanceof StoreLost)) return error;
  return new ServiceError('unavailable', error.message, {
    hint: 'Nothing is sent without it. Once it answers, the same command resumes the run.',
  });
}
