import { join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { InputFile } from '../../input/inputs.js';
import type { Step, SuppressionLists } from '../../job/job.js';
import type { Files } from '../../storage/files.js';
import { type DigestedInput, digestFile, type InputReader, nameInput, type PlanDeps } from '../plan-deps.js';
import type { ProblemList } from '../problems.js';

/**
 * The files of a list; standard input is not among them. Refuses what names no file: a list may not be empty. `isWatched`: a plan with it is
 * being sent, and what another program leaves beside the lists for a moment stops no run.
 */
export async function listSuppression(
  lists: SuppressionLists,
  directory: string,
  { reader, files }: { reader: Pick<InputReader, 'listInputs'>; files: Pick<Files, 'stat' | 'list'> },
  { isWatched = false } = {},
): Promise<InputFile[]> {
  const named = lists.files.filter((pattern) => pattern !== '-');
  const paths =
    lists.isOptOuts === true
      ? (await Promise.all(named.map((path) => listOptOuts(path, files, { ...lists, isWatched })))).flat()
      : named;
  const found = paths.length === 0 ? [] : await reader.listInputs(paths, directory);
  const { format } = lists;
  const key = keyOfLists(lists);
  return found.map((file) => ({ ...file, key, ...(format === undefined ? {} : { format }) }));
}

/** A suppression list, and how it is read. */
export interface SuppressionFile extends DigestedInput {
  readonly lists: SuppressionLists;
}

/** The suppression lists of a step as they are now. `standardInput` is what came by it; without it, a list that did is refused. */
export async function digestSuppression(
  { suppress = [] }: Pick<Step, 'suppress'>,
  directory: string,
  {
    where,
    deps,
    problems,
    digest = (path) => digestFile(path, deps),
    standardInput,
  }: {
    /** What problems name as their place. */
    where: string;
    deps: Pick<PlanDeps, 'files'> & { reader: Omit<InputReader, 'spoolStandardInput'> };
    problems: ProblemList;
    digest?: (path: string) => ReturnType<typeof digestFile>;
    standardInput?: (lists: SuppressionLists) => readonly InputFile[];
  },
): Promise<SuppressionFile[]> {
  const digested: SuppressionFile[] = [];
  for (const lists of suppress) {
    await problems.gather(lists.isOptOuts === true ? 'optOuts' : where, async () => {
      if (lists.files.includes('-') && standardInput === undefined) {
        throw new UserError('bad-input', 'the suppression list came by standard input, expected a file', {
          hint: 'Name the list as a file in the job. For a retry give that with --job, or re-import the rows with the list.',
        });
      }
      const files = [...(await listSuppression(lists, directory, deps)), ...(standardInput?.(lists) ?? [])];
      for (const file of files) digested.push({ ...nameInput(file, await digest(file.path), lists.sheet), lists });
    });
  }
  return digested;
}

/** The name of a list, packed or not. */
const LIST_NAME = /\.(?:csv|tsv|txt|ndjson|jsonl?|xlsx|xlsm)(?:\.gz)?$/i;
/** Hidden files, the mark of an open workbook, what `volley listen` keeps beside its list, what a file system has of its own. */
const NO_LIST = /^\.|^~\$|\.events\.ndjson$|^lost\+found$/;

/** The list itself, or every file of a directory: people in a file that is not read would be written to. */
async function listOptOuts(
  path: string,
  files: Pick<Files, 'stat' | 'list'>,
  { isShared, isWatched }: { isShared?: true | undefined; isWatched: boolean },
): Promise<string[]> {
  const found = await files.stat(path);
  if (found === undefined && isShared === true) return [];
  if (found === undefined) {
    throw new UserError('bad-input', 'the list of opt-outs does not exist, expected a file, or a directory of lists', {
      hint: '`volley listen --opt-outs` with its path begins it, and so does `volley people opt-out`.',
    });
  }
  if (!found.isDirectory) return [path];
  const { lists, others } = chooseLists(await files.list(path));
  if (others.length > 0 && !isWatched) {
    throw new UserError('bad-input', `the directory of opt-outs holds ${others[0]}, expected lists alone`, {
      hint: 'Name it as a list (.csv, .txt, .ndjson, .xlsx), or move it elsewhere: every file in it counts.',
    });
  }
  if (lists.length > 0) return lists.map((name) => join(path, name));
  throw new UserError('bad-input', 'the directory of opt-outs holds no list, expected at least one');
}

/** Parts the names in a directory into lists and files that nothing is known of, both sorted. */
export function chooseLists(names: readonly string[]): { lists: string[]; others: string[] } {
  const counting = names.filter((name) => !NO_LIST.test(name)).sort();
  return {
    lists: counting.filter((name) => LIST_NAME.test(name)),
    others: counting.filter((name) => !LIST_NAME.test(name)),
  };
}

/** The key of the job that names the lists, for problems. */
export function keyOfLists({ isOptOuts }: SuppressionLists): 'optOuts' | 'suppress' {
  return isOptOuts === true ? 'optOuts' : 'suppress';
}
