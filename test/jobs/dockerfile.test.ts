import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { lastOf, ROOT, readDockerfile } from './dockerfile.js';

const stages = readDockerfile();
const build = stages[0]!;
const final = stages.at(-1)!;
const { version, bin } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

describe('image', () => {
  test('is built in several stages on node:24-slim', () => {
    expect(stages.length).toBeGreaterThan(1);
    expect(stages.map((stage) => stage.base)).toEqual(stages.map(() => 'node:24-slim'));
  });

  test('installs what the lock file says, before the sources are there and so without their scripts', () => {
    const steps = build.instructions.map(({ name, text }) => `${name} ${text}`);
    const install = steps.findIndex((step) => step.startsWith('RUN npm ci '));
    const sources = steps.findIndex((step) => /^COPY .*\bsrc\b/.test(step));

    expect(install).toBeGreaterThan(-1);
    expect(install).toBeLessThan(sources);
    expect(steps[install]).toContain('--ignore-scripts');
    expect(steps.join('\n')).not.toMatch(/npm (install|i)\b/);
  });

  test('builds, then drops what only building needs', () => {
    const script = build.instructions.filter(({ name }) => name === 'RUN').map(({ text }) => text);

    expect(script.join(' && ')).toMatch(/npm run build && npm prune --omit=dev --ignore-scripts/);
  });

  test('takes nothing into the final stage but the program and its reference, owned by root', () => {
    const copies = final.instructions.filter(({ name }) => name === 'COPY' || name === 'ADD');

    expect(copies.map(({ text }) => text)).toEqual(
      ['package.json', 'node_modules', 'dist', 'jobs'].map((name) => `--from=${build.name} /app/${name} /app/${name}`),
    );
    expect(final.instructions.filter(({ text }) => /\bnpm\b/.test(text))).toEqual([]);
  });

  test('runs as a numeric user who is not root, and who owns the one directory to be written to', () => {
    const [, user, group] = /^(\d+):(\d+)$/.exec(lastOf(final, 'USER') ?? '') ?? [];
    const prepare = lastOf(final, 'RUN');

    expect(Number(user)).toBeGreaterThan(0);
    expect(Number(group)).toBeGreaterThan(0);
    expect(prepare).toBe(`install -d -o ${user} -g ${group} -m 0700 /data`);
    expect(lastOf(final, 'WORKDIR')).toBe('/data');
  });

  test('declares no anonymous volume, in which the record of what was sent would be lost', () => {
    expect(stages.flatMap((stage) => stage.instructions).filter(({ name }) => name === 'VOLUME')).toEqual([]);
  });

  test('makes node process 1, so that SIGTERM reaches it', () => {
    expect(JSON.parse(lastOf(final, 'ENTRYPOINT') ?? '')).toEqual(['node', `/app/${bin.volley}`]);
    expect(JSON.parse(lastOf(final, 'CMD') ?? '')).toEqual(['--help']);
  });

  test('is for production and carries the version of the package', () => {
    expect(final.instructions).toContainEqual({ name: 'ENV', text: 'NODE_ENV=production' });
    expect(lastOf(final, 'LABEL')).toContain(`org.opencontainers.image.version="${version}"`);
  });
});

describe('build context', () => {
  const rules = readFileSync(`${ROOT}.dockerignore`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

  test('holds nothing but what the Dockerfile copies', () => {
    const copied = build.instructions
      .filter(({ name }) => name === 'COPY')
      .flatMap(({ text }) => text.split(' ').slice(0, -1));

    expect(rules[0]).toBe('*');
    expect(rules.slice(1).toSorted()).toEqual(copied.map((path) => `!${path}`).toSorted());
    expect(copied.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
  });
});
