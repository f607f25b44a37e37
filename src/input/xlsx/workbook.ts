import { posix } from 'node:path';
import { type Archive, refuseDamaged } from './archive.js';
import { readSmallPart } from './xml-reader.js';

export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** Name of the part that holds its rows. */
  readonly part: string;
}

/** What a workbook says of its parts. */
export interface Workbook {
  /** Sheets in the order of their tabs; charts and the like are none. */
  readonly sheets: readonly Sheet[];
  readonly sharedTexts: string | undefined;
  readonly styles: string | undefined;
  /** Whether days are counted from 1904. */
  readonly is1904: boolean;
}

export async function readWorkbook(archive: Archive, shown: string): Promise<Workbook> {
  const root = await readRelations(archive, '', shown);
  const part = root.find(({ type }) => type === 'officeDocument')?.target;
  if (part === undefined) throw refuseDamaged(shown, 'it names no workbook');
  const relations = await readRelations(archive, part, shown);
  const byId = new Map(relations.map((relation) => [relation.id, relation]));
  const sheets = new Map<string, Sheet>();
  let is1904 = false;
  await readSmallPart(archive, part, shown, ({ name, attributes }) => {
    if (name === 'workbookPr') is1904 = isTrue(attributes.date1904);
    if (name !== 'sheet') return;
    const relation = byId.get(attributes['r:id'] ?? findId(attributes) ?? '');
    // Each sheet has a part of its own: a small file could name one for 200,000 sheets, and have it read for each.
    if (relation?.type !== 'worksheet' || sheets.has(relation.target)) return;
    const isHidden = attributes.state === 'hidden' || attributes.state === 'veryHidden';
    sheets.set(relation.target, { name: attributes.name ?? '', isHidden, part: relation.target });
  });
  const find = (type: string) => relations.find((relation) => relation.type === type)?.target;
  return { sheets: [...sheets.values()], sharedTexts: find('sharedStrings'), styles: find('styles'), is1904 };
}

interface Relation {
  readonly id: string;
  /** The last word of its address, which has two forms. */
  readonly type: string;
  /** Name of the part. */
  readonly target: string;
}

/** The relations of a part, '' for those of the file as a whole. */
async function readRelations(archive: Archive, of: string, shown: string): Promise<Relation[]> {
  const { dir, base } = posix.parse(of);
  const relations: Relation[] = [];
  const part = posix.join(dir, '_rels', `${base}.rels`);
  if (!archive.has(part)) throw refuseDamaged(shown, `it lacks its part ${part}`);
  await readSmallPart(archive, part, shown, ({ name, attributes }) => {
    const { Id: id, Type: type, Target: target, TargetMode: mode } = attributes;
    if (name !== 'Relationship' || id === undefined || target === undefined || mode === 'External') return;
    relations.push({ id, type: posix.basename(type ?? ''), target: posix.resolve('/', dir, target).slice(1) });
  });
  return relations;
}

/** The prefix of the id is the producer's choice. */
function findId(attributes: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1];
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}
