import { expect } from 'vitest';
import type { FailureError } from '../../src/command/failure.js';
import type { Ended } from './command.js';

/** What is on stdout of a command that ended without its result: one JSON object, on one line, that says the code it ended with. */
export function readFailure({ code, stdout, stderr }: Ended): { state: string; exitCode: number; error: FailureError } {
  expect(stdout, stderr).toMatch(/^\{.*\}\n$/);
  const failure = JSON.parse(stdout);
  expect(failure).toMatchObject({
    state: expect.stringMatching(/^(refused|stopped|failed)$/),
    exitCode: code,
    error: { code: expect.any(String), message: expect.stringMatching(/./), problems: expect.any(Array) },
  });
  return failure;
}
