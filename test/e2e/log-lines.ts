import { expect } from 'vitest';

export type LogLine = Readonly<Record<string, unknown>> & {
  readonly level: number;
  readonly msg: string;
  readonly event?: string;
};

/** Every line of stderr, each of which is JSON. */
export const linesOf = (stderr: string): LogLine[] =>
  stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
export const eventsOf = (lines: readonly LogLine[]) =>
  lines.flatMap(({ event }) => (event === undefined ? [] : [event]));

export interface SaidEnd {
  readonly code: number;
  readonly level: 'info' | 'warn' | 'error';
  readonly reason: RegExp;
  /** Of warnings, once each. */
  readonly events?: readonly string[];
  /** On the last line. */
  readonly fields?: object;
}

export const LEVELS = { info: 30, warn: 40, error: 50 };

/** From stderr alone: one first and one last line, whose level is that of the exit code, and which says why; warnings once each. */
export function expectSaid(
  { code, stderr }: { code: number | null; stderr: string },
  { code: expected, level, reason, events = [], fields = {} }: SaidEnd,
): LogLine[] {
  const lines = linesOf(stderr);
  expect(code, stderr).toBe(expected);
  expect(eventsOf(lines), stderr).toEqual(['start', ...events, 'end']);
  expect([lines[0]?.event, lines.at(-1)?.event]).toEqual(['start', 'end']);
  const end = lines.at(-1);
  expect(end).toMatchObject({ level: LEVELS[level], exitCode: expected, seconds: expect.any(Number), ...fields });
  expect(end?.reason).toMatch(reason);
  expect(end?.msg).toMatch(reason);
  for (const line of lines.filter(({ event }) => events.includes(String(event)))) expect(line.level).toBe(LEVELS.warn);
  return lines;
}
