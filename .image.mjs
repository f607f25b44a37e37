// For the Dockerfile: of the dependencies, package.json keeps those that the bundle loads from node_modules (.rolldown.cjs);
// `npm prune` then removes all others, which are in the bundle already. The list of parts gets its name, which npm takes from the directory.
import { readFile, writeFile } from 'node:fs/promises';
import config from './.rolldown.cjs';

const read = async (path) => JSON.parse(await readFile(path, 'utf8'));
const write = (path, value) => writeFile(path, `${JSON.stringify(value, undefined, 2)}\n`);

const { scripts, devDependencies, ...manifest } = await read('package.json');
const kept = Object.entries(manifest.dependencies).filter(([name]) => config.external.includes(name));
await write('package.json', { ...manifest, dependencies: Object.fromEntries(kept) });

const parts = await read('sbom.cdx.json');
parts.metadata.component.name = manifest.name;
await write('sbom.cdx.json', parts);
