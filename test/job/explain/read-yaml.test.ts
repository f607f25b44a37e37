import { describe, expect, test } from 'vitest';
import { parseJob } from '../../../src/job/load.js';
import { aJobFile, inputOf, refusalOf } from '../a-job-file.js';

const MIB = 1024 * 1024;

describe('bounds', () => {
  test.each([
    ['brackets', '['.repeat(MIB)],
    ['braces', '{a: '.repeat(MIB / 4)],
    ['dashes on one line', '- '.repeat(MIB / 2)],
    ['question marks', '? '.repeat(MIB / 2)],
    ['keys on one line', 'a: '.repeat(MIB / 4)],
    ['stairs of keys', Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['a second document', `${aJobFile()}\n---\n${'['.repeat(MIB / 2)}`],
  ])('refuse nesting by %s before anything is built', (_name, text) => {
    expect(refusalOf(text).message).toContain('nested more than 32 levels deep');
  });

  test('refuse a text of more than 1 MiB, counted in bytes', () => {
    expect(refusalOf('#'.repeat(MIB + 1)).message).toContain('longer than 1 MiB');
    expect(refusalOf(`#${'é'.repeat(MIB / 2)}`).message).toContain('longer than 1 MiB');
  });

  test('take a comment of just under 1 MiB', () => {
    const job = aJobFile();
    expect(parseJob(`#${' '.repeat(MIB - job.length - 2)}\n${job}`, 'sale.yaml').name).toBe('sale');
  });

  test('refuse more than 100,000 parts', () => {
    expect(refusalOf(`[${','.repeat(MIB - 10)}]`).message).toContain('more than 100000 parts');
  });

  test('take a list of 10,000 files', () => {
    const files = Array.from({ length: 10_000 }, (_, index) => `      - ${index}.csv`).join('\n');
    const job = parseJob(
      `service: { sandbox: true }\nsteps:\n- kind: sms\n  destination: a\n  template: { text: a }\n  input:\n    files:\n${files}`,
      'sale.yaml',
    );
    expect(inputOf(job).files).toHaveLength(10_000);
  });
});

test('YAML may say that it is 1.2, and where its document begins and ends', () => {
  for (const text of [`%YAML 1.2\n---\n${aJobFile()}`, `---\n${aJobFile()}\n...\n`])
    expect(parseJob(text, 'sale.yaml').name).toBe('sale');
});
