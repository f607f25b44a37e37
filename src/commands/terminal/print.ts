import { escapeJson } from '../../ports/log.js';
import type { Terminal } from './terminal.js';

/** The result of a command on stdout: one JSON object for machines, plain words on a terminal; `--json`, `--no-json` decide. */
export async function printResult(
  terminal: Terminal,
  flags: { readonly json: boolean | undefined },
  result: { json: object; text: string },
): Promise<void> {
  const isJson = flags.json ?? !terminal.isStdoutTerminal;
  await terminal.writeStdout(isJson ? `${escapeJson(JSON.stringify(result.json))}\n` : result.text);
}
