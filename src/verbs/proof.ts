import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { openNamedRun } from '../command/run-directory.js';
import {
  escapeText,
  formatHeadline,
  formatNextStep,
  formatParagraph,
  type Screen,
  showPath,
} from '../command/screen.js';
import { countOf } from '../domain/count-of.js';
import { PROOF_FILE } from '../proof/prove-run.js';
import { keepSalt, type MadeProof, PROOF_PAGE, SALT_FILE, VERIFIER, writeProof } from '../proof/write-proof.js';
import { writeRunReport } from '../registry/write-run-report.js';
import { explainEnd } from '../texts/summary-text.js';
import { defineVerb, json, namedRun, text } from './verb.js';

const SALT_BYTES = 32;

/** `volley proof RUN`: writes what a run planned and did as a chain of digests that a program without Volley can check. */
export const proof = defineVerb({
  args: { run: namedRun },
  flags: {
    output: text('Directory for the proof; default: the run directory. The salt stays in the run directory'),
    json,
  },
  examples: [
    ['jobs/spring-sale.yaml', 'of its newest run'],
    ['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --output audit', 'a directory to hand on'],
  ],
  run: async ({ run, output: written }, context) => {
    const { env, screen } = context;
    const { files } = env;
    const { directory, plan } = await openNamedRun(context, run);
    const output = written === undefined ? directory : resolve(written);
    const summarize = () => writeRunReport(files, directory, plan);
    const salt = await keepSalt(files, directory, randomBytes(SALT_BYTES).toString('hex'));
    if (output !== directory) await files.makeDirectory(output);
    const { made, summary } = await writeProof(files, { directory, plan, salt }, { output, summarize });
    const { head, entries } = made;
    const [proof, verifier] = [join(output, PROOF_FILE), join(output, VERIFIER)];
    const paths = { proof, page: join(output, PROOF_PAGE), verifier, salt: join(directory, SALT_FILE) };
    const end = explainEnd(summary);
    context.name({ head, entries });
    return {
      json: { job: plan.job.name, plan: plan.id, state: summary.state, head, entries, ...paths },
      text: formatProof(made, { paths, end }, screen),
      reason: `a proof of ${countOf(entries, 'entry', 'entries')}, head ${head}; the run is ${end}`,
    };
  },
});

function formatProof(
  { head, entries }: MadeProof,
  { paths, end }: { paths: Readonly<Record<'proof' | 'page' | 'verifier' | 'salt', string>>; end: string },
  screen: Screen,
): string {
  const path = (each: string) => escapeText(showPath(screen, each));
  const lines = [
    formatHeadline(`Proof of ${countOf(entries, 'entry', 'entries')}; the run is ${end}`, 'bold', screen),
    '',
    `  head       ${head}`,
    ...Object.entries(paths).map(([name, each]) => `  ${name.padEnd(10)} ${path(each)}`),
  ];
  const about =
    'Note the head where the one who keeps these files cannot change it: it vouches for all of them. The salt lets one look up numbers, and try ' +
    'them: give it only to those who may know who was written to.';
  const next = { what: 'check it, without Volley', command: [paths.verifier, paths.proof, '--head', head] };
  return `${lines.join('\n')}\n\n${formatParagraph(about, screen)}${formatNextStep(next, { ...screen, command: 'node' })}`;
}
