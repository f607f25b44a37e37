import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { aFolder } from '../plan/a-plan.js';
import { lastOf, ROOT, readDockerfile } from './dockerfile.js';

const stages = readDockerfile();
const build = stages[0]!;
const final = stages.at(-1)!;
const { version, bin } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

describe('image', () => {
  test('is built in several stages on one exact version of its base, which an argument replaces by a digest', () => {
    expect(stages.length).toBeGreaterThan(1);
    expect(new Set(stages.map((stage) => stage.base)).size).toBe(1);
    expect(final.base).toMatch(/^node:24\.\d+\.\d+-slim$/);
    expect(final.instructions).toContainEqual({ name: 'ARG', text: 'BASE' });
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

  test('builds, lists the parts, then drops what only building needs and what the bundle holds', () => {
    const script = lastOf(build, 'RUN')?.split(' && ') ?? [];
    const at = (start: string) => script.findIndex((command) => command.startsWith(start));

    expect(script[0]).toBe('VOLLEY_REVISION="$REVISION" npm run build');
    expect([at('npm sbom --omit=dev '), at('node .image.mjs'), at('npm prune --omit=dev --ignore-scripts')]).toEqual([
      1, 2, 3,
    ]);
  });

  test('keeps of the packages those that the bundle loads', () => {
    const directory = aFolder();
    for (const name of ['package.json', '.rolldown.cjs', '.image.mjs']) cpSync(ROOT + name, join(directory, name));
    writeFileSync(join(directory, 'sbom.cdx.json'), '{"metadata":{"component":{"name":"app"}}}');
    execFileSync(process.execPath, ['.image.mjs'], { cwd: directory });
    const readJson = (name: string) => JSON.parse(readFileSync(join(directory, name), 'utf8'));

    expect(Object.keys(readJson('package.json').dependencies)).toEqual(['fastify']);
    expect(readJson('package.json')).toMatchObject({ version, bin });
    expect(readJson('sbom.cdx.json').metadata.component.name).toBe('volley');
  });

  test('has all that the bundle loads: it loads nothing but Node and the packages that it keeps', () => {
    const files = readdirSync(`${ROOT}dist`, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    );
    const texts = files.map((name) => readFileSync(`${ROOT}dist/${name}`, 'utf8'));
    const loaded = texts.flatMap((text) =>
      ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
    );

    expect(loaded).toContain('fastify');
    expect(new Set(loaded.filter((name) => !name.startsWith('.') && !isBuiltin(name)))).toEqual(new Set(['fastify']));
  });

  test('ends with the program and its reference, owned by root; node is process 1, for SIGTERM; its numeric user owns the one directory to write to, in no anonymous volume', () => {
    const copied = ['package.json', 'node_modules', 'dist', 'jobs', 'sbom.cdx.json'];
    const steps = final.instructions.filter(({ name }) => !['ARG', 'LABEL'].includes(name));

    expect(steps.map(({ name, text }) => `${name} ${text}`)).toEqual([
      'ENV NODE_ENV=production',
      ...copied.map((name) => `COPY --from=${build.name} /app/${name} /app/${name}`),
      `RUN install -d -o 10001 -g 10001 -m 0700 /data && ln -s /app/${bin.volley} /usr/local/bin/volley`,
      'WORKDIR /data',
      'USER 10001:10001',
      `ENTRYPOINT ["node", "/app/${bin.volley}"]`,
      'CMD ["--help"]',
    ]);
  });

  test('carries the version of the package, and of which commit and base it is', () => {
    expect(lastOf(final, 'LABEL')).toMatch(/image\.revision="\$REVISION".*image\.base\.name="\$BASE"/);
    expect(lastOf(final, 'LABEL')).toContain(`org.opencontainers.image.version="${version}"`);
  });
});

test('the build context holds nothing but what the Dockerfile copies', () => {
  const rules = readFileSync(`${ROOT}.dockerignore`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const copied = build.instructions
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ text }) => text.split(' ').slice(0, -1));

  expect(rules[0]).toBe('*');
  expect(rules.slice(1).toSorted()).toEqual(copied.map((path) => `!${path}`).toSorted());
  expect(copied.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
});
