// What the build (.build.mjs) makes of src/: few files, for most of a start is the loading of modules. What is loaded by `import()` stays so.
/** Modules in whose place a smaller one is enough for those who import them: half of the time that a start would take. */
const SMALLER = [
  {
    // Widths in a terminal, by tables of Unicode: help and errors of the parser are plain text.
    name: 'string-width',
    importedBy: /\/node_modules\/(yargs|cliui|wrap-ansi)\//,
    code: 'export default (text) => [...text].length;',
  },
  {
    // A search of package.json, upwards from the working directory, for a version: the verbs state their own.
    name: 'escalade/sync',
    importedBy: /\/node_modules\/yargs\//,
    code: 'export default () => undefined;',
  },
];

const useSmaller = {
  name: 'use-smaller',
  resolveId: (id, importer = '') => {
    const at = SMALLER.findIndex(({ name, importedBy }) => name === id && importedBy.test(importer));
    return at === -1 ? undefined : { id: `\0smaller:${at}`, moduleSideEffects: true };
  },
  load: (id) => SMALLER[id.startsWith('\0smaller:') ? Number(id.slice('\0smaller:'.length)) : -1]?.code,
};

module.exports = {
  input: {
    cli: 'src/cli.ts',
    library: 'src/library.ts',
    // A thread is started from a file of its own, which is looked for beside the chunk that starts it.
    'chunks/csv-thread': 'src/input/fast/csv-thread.ts',
    // For its test, which is written against the sources.
    'input/fast/threaded-csv': 'src/input/fast/threaded-csv.ts',
  },
  platform: 'node',
  // The sandbox's server, which compiles code as it starts: it is taken from node_modules.
  external: ['fastify'],
  plugins: [useSmaller],
  // A library's way to load what is optional.
  checks: { eval: false },
};
