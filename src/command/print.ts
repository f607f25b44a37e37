import { escapeJson } from '../ports/log.js';
import { EXIT } from '../report/exit-code.js';
import type { Terminal } from './terminal.js';

const DONE = { state: 'done', exitCode: EXIT.ok, error: null };

/**
 * The result of a command on stdout: one JSON object for machines, plain words on a terminal; `--json`, `--no-json` decide. Every
 * object has `state`, `exitCode` and `error`; a command that has done what it was asked need not say so.
 */
export async function printResult(
  terminal: Terminal,
  flags: { readonly json: boolean | undefined },
  result: { json: object; text: string },
): Promise<void> {
  const isJson = flags.json ?? !terminal.isStdoutTerminal;
  const left = Object.entries(DONE).filter(([key]) => !Object.hasOwn(result.json, key));
  const json = { ...result.json, ...Object.fromEntries(left) };
  await terminal.writeStdout(isJson ? `${escapeJson(JSON.stringify(json))}\n` : result.text);
}
