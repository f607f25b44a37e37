// `npm run build`: makes dist/ of src/ while other processes start from it, and run on. Everything is built in a directory beside it; then each
// file takes the place of the old one by rename. The chunks of a build have a directory of their own, named for what is in them, which is there,
// whole, before anything loads it. Those of earlier builds stay for a day after they were replaced: a process loads parts of them as it needs them.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import config from './.rolldown.cjs';

const TARGET = 'dist';
const KEEP_MS = 24 * 3_600_000;
/** Stands for the digest of the chunks until that is known. */
const CHUNKS = 'chunks-0000000000000000';

const root = import.meta.dirname;
const target = join(root, TARGET);
const stage = join(root, `.${TARGET}-${process.pid}`);

try {
  // Both to their end: neither writes into a directory that is being removed.
  const made = await Promise.allSettled([bundle(), writeTypes()]);
  for (const { reason } of made) if (reason !== undefined) throw reason;
  await chmod(join(stage, 'cli.js'), 0o755);
  const chunks = await nameChunks();
  await takePlace(chunks);
  await clearAway(chunks);
} catch (error) {
  process.stderr.write(`${error.message}\nCannot build: what is in ${TARGET}/ stays as it was\n`);
  process.exitCode = 1;
} finally {
  await rm(stage, { recursive: true, force: true });
}

async function bundle() {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const constants = { VOLLEY_VERSION: version, VOLLEY_REVISION: await readRevision() };
  const define = Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]));
  // Node 20 does not know `await using`.
  const build = await rolldown({ ...config, cwd: root, transform: { define, target: 'es2023' } });
  // Not minified: that gains 2 % of a start, and errors tell where they were thrown.
  await build.write({ dir: stage, chunkFileNames: `${CHUNKS}/[name].js`, entryFileNames });
  await build.close();
  // Read beside the chunk that writes it into a proof; and where who has the package finds it.
  for (const name of [`${CHUNKS}/verify.mjs`, 'verify.mjs'])
    await copyFile(join(root, 'src/proof/verify.mjs'), join(stage, name));
}

/** The commit of the sources: as VOLLEY_REVISION says, or git of this very directory, not of one around it. */
async function readRevision() {
  const { VOLLEY_REVISION: given = '' } = process.env;
  if (!/^[\w.+-]{0,80}$/.test(given)) throw new Error('VOLLEY_REVISION is not the name of a commit');
  if (given !== '') return given;
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root), GIT_OPTIONAL_LOCKS: '0' };
  const args = ['describe', '--always', '--exclude=*', '--abbrev=40', '--dirty=+changes'];
  return promisify(execFile)('git', args, { cwd: root, env }).then(
    ({ stdout }) => stdout.trim(),
    () => 'unknown',
  );
}

/** A thread starts from a file beside the chunk that starts it. */
function entryFileNames({ name }) {
  return `${name.replace(/^chunks\//, `${CHUNKS}/`)}.js`;
}

async function writeTypes() {
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  const run = promisify(execFile)(process.execPath, [tsc, '-p', join(root, 'src'), '--outDir', stage]);
  await run.catch(({ stdout, stderr }) => {
    throw new Error(`${stdout}${stderr}`);
  });
  // Of the types only what those of the library lead to, and of the part that tests load as it is built: no one can import the others.
  const kept = new Set();
  for (const entry of ['library.d.ts', 'input/fast/threaded-csv.d.ts']) await followTypes(entry, kept);
  for (const name of (await listFiles(stage)).filter((each) => each.endsWith('.d.ts') && !kept.has(each)))
    await rm(join(stage, name));
}

async function followTypes(name, seen) {
  if (seen.has(name)) return;
  seen.add(name);
  const text = await readFile(join(stage, name), 'utf8');
  for (const [, path] of text.matchAll(/(?:\bfrom |\bimport\()["'](\.[^"']+)\.js["']/g))
    await followTypes(join(dirname(name), `${path}.d.ts`), seen);
}

/** Gives the chunks' directory its name in all that loads it. */
async function nameChunks() {
  const scripts = (await listFiles(stage)).filter((name) => name.endsWith('.js'));
  const hash = createHash('sha256');
  const texts = new Map();
  for (const name of scripts) {
    const text = await readFile(join(stage, name), 'utf8');
    texts.set(name, text);
    hash.update(`${name}\n${text.length}\n${text}`);
  }
  const chunks = `chunks-${hash.digest('hex').slice(0, CHUNKS.length - 'chunks-'.length)}`;
  for (const [name, text] of texts) {
    if (text.includes(CHUNKS)) await writeFile(join(stage, name), text.replaceAll(CHUNKS, chunks));
  }
  await rename(join(stage, CHUNKS), join(stage, chunks));
  return chunks;
}

/** Chunks first, entries last: whichever of them a process starts from, what it loads is there. */
async function takePlace(chunks) {
  await mkdir(target, { recursive: true });
  await touchReplaced(chunks);
  await rename(join(stage, chunks), join(target, chunks)).catch((error) => {
    // The same build stands there already, and took its place whole.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  const files = (await listFiles(stage)).filter((name) => !name.startsWith(chunks));
  const isEntry = (name) => name.endsWith('.js');
  for (const name of [...files.filter((name) => !isEntry(name)), ...files.filter(isEntry)]) {
    await mkdir(dirname(join(target, name)), { recursive: true });
    await rename(join(stage, name), join(target, name));
  }
  const types = new Set(files);
  const old = (await listFiles(target)).filter((name) => name.endsWith('.d.ts') && !types.has(name));
  for (const name of old) await rm(join(target, name), { force: true });
}

/** From now on counts how long the chunks that stood until now are kept. */
async function touchReplaced(chunks) {
  const current = await readFile(join(target, 'cli.js'), 'utf8').catch(() => '');
  for (const name of new Set(current.match(/\bchunks(-[0-9a-f]{16})?(?=\/)/g))) {
    if (name !== chunks) await utimes(join(target, name), new Date(), new Date()).catch(() => {});
  }
}

/** What no one loads any more, and what builds left that were killed. */
async function clearAway(chunks) {
  const isOld = async (path) => Date.now() - (await stat(path)).mtimeMs > KEEP_MS;
  const kept = [];
  for (const name of (await readdir(target)).filter((each) => /^chunks\b/.test(each) && each !== chunks)) {
    if (await isOld(join(target, name))) await rm(join(target, name), { recursive: true, force: true });
    else kept.push(name);
  }
  // A package holds the present build alone.
  await writeFile(join(target, '.npmignore'), kept.map((name) => `/${name}\n`).join(''));
  for (const name of (await readdir(root)).filter((each) => each.startsWith(`.${TARGET}-`))) {
    if (await isOld(join(root, name)).catch(() => false)) await rm(join(root, name), { recursive: true, force: true });
  }
}

/** Paths of all files below a directory, relative to it. */
async function listFiles(directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}
