import { describe, expect, it } from 'vitest';
import { describeFailure, formatError, sayFailed } from '../../src/command/failure.js';
import { runVerb } from '../../src/command/runner.js';
import { closing } from '../../src/domain/closing.js';
import {
  INTERNAL_ERRORS,
  InternalError,
  type InternalErrorCode,
  SERVICE_ERRORS,
  ServiceError,
  type ServiceErrorCode,
  UserError,
} from '../../src/domain/errors.js';
import { maskThrown } from '../../src/library/program-host.js';
import { aTerminal } from './a-terminal.js';

describe('an error, as a person reads it', () => {
  it('is the message, each problem with its place and advice, once for several in a row, and what to do', () => {
    const problems = [
      { where: 'a.csv:2', message: 'evil', hint: 'Fix it.' },
      { where: 'a.csv:3', message: 'bad', hint: 'Fix it.' },
      { where: 'b.csv', message: 'worse' },
    ];
    expect(formatError(new UserError('bad-input', 'Cannot plan', { problems, hint: 'Then run again.' }))).toBe(
      'Cannot plan:\n  a.csv:2: evil\n  a.csv:3: bad\n      Fix it.\n  b.csv: worse\nThen run again.\n',
    );
  });

  it('is what failed first, where what was open cannot be closed either', async () => {
    const run = async () => {
      await using _open = closing({ close: () => Promise.reject(new Error('Cannot close')) });
      await using _too = closing({ close: () => Promise.reject(new Error('Cannot close this either')) });
      throw new UserError('bad-flag', 'Cannot start');
    };
    await expect(runVerb('run', { run }, {}, aTerminal().terminal)).rejects.toThrow('Cannot start');
    await expect(maskThrown(run)).rejects.toThrow('Cannot start');
  });

  it('has no empty line where there is no hint', () => {
    expect(formatError(new UserError('bad-flag', 'Cannot start'))).toBe('Cannot start\n');
    expect(formatError(new ServiceError('unavailable', 'Cannot reach it'))).toBe('Cannot reach it\n');
    expect(formatError(new ServiceError('unavailable', 'Cannot reach it', { hint: 'Wait.' }))).toBe(
      'Cannot reach it\nWait.\n',
    );
    expect(formatError(new InternalError('unbalanced', 'Cannot count'))).toBe('Cannot count\n');
  });

  it('says a single problem once, and what to do about it', () => {
    const problems = [{ where: 'a.yaml:3:1', message: 'name is missing', hint: 'Write name: sale.' }];
    const error = new UserError('bad-job', 'Cannot use it: name is missing (a.yaml:3:1)', { problems, hint: 'Go on.' });
    expect(formatError(error)).toBe('Cannot use it: name is missing (a.yaml:3:1)\nWrite name: sale.\nGo on.\n');
    expect(formatError(new UserError('bad-job', 'Cannot use the job', { problems }))).toContain('name is missing');
    expect(
      formatError(new UserError('bad-job', 'name is missing, and more', { problems: [...problems, ...problems] })),
    ).toContain('\n  a.yaml:3:1: name is missing\n');
  });

  it('says advice once that the error and its only problem share', () => {
    const problems = [{ where: 'a.csv', message: 'bad', hint: 'Save it.' }];
    const error = new UserError('bad-input', 'Cannot read a.csv: bad', { problems, hint: 'Save it.' });
    expect(formatError(error)).toBe('Cannot read a.csv: bad\nSave it.\n');
  });

  it('has commands that can be copied, and short paths, on a terminal', () => {
    const error = new UserError('guard', 'Cannot send: no test', { hint: 'Use `volley test /home/ann/out/a/p1`.' });
    const logging = { level: 'info', format: 'pretty', isAsked: false } as const;
    const screen = { columns: 80, directory: '/home/ann', command: 'npx volley' };
    let said = '';
    const writeStderr = (text: string) => {
      said += text;
    };
    sayFailed(error, { logging, isStderrTerminal: true, screen, writeStderr });
    expect(said).toBe('Cannot send: no test\nUse `npx volley test out/a/p1`.\n');
  });

  it("has the service's own code, once", () => {
    const refused = (message: string, serviceCode: string) =>
      formatError(new ServiceError('refused', message, { status: 404, serviceCode }));
    expect(refused('Cannot read it: None', '1300')).toBe('Cannot read it: None (code 1300)\n');
    expect(refused('Cannot read it: None', 'http-404')).toBe('Cannot read it: None (HTTP 404)\n');
    expect(refused('Cannot read it: HTTP 404', 'http-404')).toBe('Cannot read it: HTTP 404\n');
  });

  it("of a call that the service did not do is an object with the service's status and its own code, numbers masked", () => {
    const options = { status: 404, serviceCode: 'no +6591234567', hint: 'Look.' };
    expect(describeFailure(new ServiceError('refused', 'None of +6591234567', options))).toEqual({
      ...{ state: 'stopped', exitCode: 1 },
      error: {
        ...{ code: 'refused', status: 404, hint: 'Look.', problems: [] },
        serviceCode: expect.not.stringContaining('6591234567'),
        message: expect.not.stringContaining('6591234567'),
      },
    });
    // Of a service, or a database, that did not answer.
    expect(describeFailure(new ServiceError('unavailable', 'No answer'))).toEqual({
      ...{ state: 'stopped', exitCode: 75 },
      error: { code: 'unavailable', message: 'No answer', hint: null, problems: [] },
    });
  });

  it('that is unexpected is reported as an error in volley, with where it came from', () => {
    expect(formatError(new TypeError('x is not a function'))).toMatch(
      /^An error in volley itself, please report it:\nTypeError: x is not[\s\S]*\n +at /,
    );
    expect(formatError('just text')).toBe('An error in volley itself, please report it:\njust text\n');
  });

  it('that a part of volley could not be loaded is reported without a stack: the process may be out of files', () => {
    const error = Object.assign(new Error("Cannot find package 'liquidjs'"), { code: 'ERR_MODULE_NOT_FOUND' });
    expect(formatError(error)).toMatch(/^Cannot load a part of volley: .*'liquidjs'.*\nNothing more .*ulimit -n.*\n$/);
    expect(describeFailure(error).exitCode).toBe(4);
  });

  it('carries nothing that would steer the terminal', () => {
    const evil = '\u001b[31mred\u0007\u202e\u200b\r';
    const error = new UserError('bad-input', evil, {
      hint: evil,
      problems: [{ where: evil, message: evil, hint: evil }],
    });
    for (const text of [
      formatError(error),
      formatError(new InternalError('unexpected', evil)),
      formatError(new Error(evil)),
      formatError(new ServiceError('bad-answer', evil, { hint: evil })),
    ]) {
      expect(text).not.toMatch(/[\p{Cf}]|[^\P{Cc}\n]/u);
    }
  });
});

// Those of UserError stand in the reference, which codes.test.ts compares.
it('the exit code of a command that the service or volley itself ends is that of its error', () => {
  const ofService = (Object.keys(SERVICE_ERRORS) as ServiceErrorCode[]).map((code) => new ServiceError(code, ''));
  const ofVolley = (Object.keys(INTERNAL_ERRORS) as InternalErrorCode[]).map((code) => new InternalError(code, ''));
  expect(
    Object.fromEntries([...ofService, ...ofVolley].map((error) => [error.code, describeFailure(error).exitCode])),
  ).toEqual({
    ...{ unauthorized: 4, redirected: 4, 'bad-answer': 4, unavailable: 75, refused: 1, 'in-doubt': 3 },
    ...{ unbalanced: 4, 'journal-damaged': 4, unexpected: 4, 'write-failed': 75 },
  });
  for (const error of [new Error('x'), 'x', undefined]) expect(describeFailure(error).exitCode).toBe(4);
});
