import { UserError } from '../domain/errors.js';

/**
 * Passes a result on; a UserError that only counts its problems gets the first one into its message, since a program
 * may show nothing else.
 */
export async function nameFirstProblem<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof UserError ? addFirstProblem(error) : error;
  }
}

function addFirstProblem(error: UserError): UserError {
  const { code, message, hint, problems } = error;
  const [first, ...others] = problems;
  if (first === undefined || message.includes(first.message)) return error;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return new UserError(code, `${message}: ${first.where}: ${first.message}${more}`, {
    problems,
    ...(hint === undefined ? {} : { hint }),
  });
}
