import { type DocumentVersions, supersededVersion } from "../../../adapters/dynamodb/document-versions.ts";
import { contentOfDocument, type StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { mask } from "../../../domain/core/mask.ts";
import { isRawNumber } from "../../../domain/event/lossless-json.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../../domain/fetch/document.ts";
import { isWanted, type VersionWanted } from "../../../domain/read/route.ts";
import { CommandError } from "../core/command-error.ts";
import { unknownSubject } from "../core/flags.ts";
import { exactValue, type Showing } from "../core/shown-json.ts";
import { tableText } from "../core/table.ts";
import { counted, oneLine, printableJson } from "../core/text.ts";
import type { DocumentPorts } from "./document-list.ts";

/**
 * @param wanted a version, or a time at which it was current; empty: the newest
 * @throws CommandError if the document or the version does not exist, naming the existing versions
 */
export async function findDocument(
  subject: Subject,
  name: DataName,
  wanted: VersionWanted,
  { partitions, readDocuments, versions }: Pick<DocumentPorts, "partitions" | "readDocuments" | "versions">,
): Promise<StoredDocument> {
  const title = nameOfData(name, "/");
  const all = await readDocuments(subject);
  const newest = all.find(({ document }) => nameOfData(document, "/") === title);
  const withData = all.filter(({ document }) => document.digest !== undefined);
  if (newest?.document.announced !== undefined && isWanted(wanted, newest.document.announced)) {
    if (newest.document.digest !== undefined) return newest;
  } else {
    const version = await supersededVersion(versions, { subject, name }, wanted);
    if (version !== undefined) return version;
    if (newest !== undefined) throw await notKept(subject, name, newest, versions);
  }
  if (withData.length === 0 && !(await partitions.isKnown(subject))) throw unknownSubject(subject);
  const known = withData.map(({ document }) => nameOfData(document, "/")).join(", ") || "none";
  throw CommandError.usage(`${nameOf(subject)} has no document ${title}; it has: ${known}.`);
}

async function notKept(
  subject: Subject,
  name: DataName,
  newest: StoredDocument,
  versions: DocumentVersions,
): Promise<CommandError> {
  const kept = (await versions.all(subject, name)).filter(
    ({ document }) => document.announced !== newest.document.announced,
  );
  const known = [newest, ...kept].flatMap(({ document: { announced, digest } }) =>
    announced === undefined || digest === undefined
      ? []
      : [`${announced} (${new Date(announced).toISOString()})`],
  );
  return CommandError.usage(
    `This version of ${nameOfData(name, "/")} is not retained. Retained: ${known.join(", ") || "none"}. See retention.documentVersionsDays.`,
  );
}

/** The provider's bytes. @throws permanent failure if their digest differs */
export async function bytesOf(
  stored: StoredDocument,
  { overflow }: { readonly overflow: Pick<OverflowBucket, "get"> },
): Promise<Uint8Array> {
  const content = await contentOfDocument(stored, overflow);
  return Buffer.concat(content?.parts ?? []);
}

/** The previous version, since when it was current, and the first changes, up to a maximum. */
export type DocumentChanges = ReturnType<typeof changesBetween>;

/** Maximum changes to list. To see more, compare the documents. */
const maxShown = 500;

/** The version that a document superseded; undefined if none is stored. */
export async function versionBefore(
  { document }: StoredDocument,
  { before }: Pick<DocumentVersions, "before">,
): Promise<StoredDocument | undefined> {
  const { subject, announced } = document;
  return announced === undefined ? undefined : before(subject, document, announced);
}

/** @param text of the document @param earlier the previous version and its text */
export function changesBetween(
  earlier: StoredDocument,
  [before, after]: readonly [before: string, after: string],
  { reveal, ids }: Showing,
) {
  const shown = new Set(ids.filter((id) => id !== undefined));
  const show = (value: unknown) => (reveal ? value : mask(plain(value), { shown }));
  const found = jsonChanges(exactValue(before), exactValue(after));
  const { announced = 0 } = earlier.document;
  return {
    version: String(announced),
    observedAt: new Date(announced).toISOString(),
    count: found.length,
    changes: found.slice(0, maxShown).map((change) => ({
      ...change,
      ...("before" in change && { before: show(change.before) }),
      ...("after" in change && { after: show(change.after) }),
    })),
  };
}

/** Converts numbers to JavaScript's, because masking removes their digits anyway. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

export function changesText(changes: DocumentChanges | null): string {
  if (changes === null)
    return "No previous version is retained. The setting retention.documentVersionsDays retains versions.";
  const { version, observedAt, count, changes: shown } = changes;
  const title = `Against version ${version} of ${observedAt}`;
  if (count === 0) return `${title} no value differs: only the order or the spacing of the text does.`;
  const rows = shown.map(({ path, is, before, after }) => [oneLine(path), is, cell(before), cell(after)]);
  return [
    `${title}: ${counted(count, "change")}${count > shown.length ? `, of which ${shown.length} are shown` : ""}.`,
    tableText(["PATH", "", "BEFORE", "AFTER"], rows),
  ].join("\n");
}

function cell(value: unknown): string | undefined {
  return value === undefined ? undefined : printableJson(value);
}

/** A difference between two JSON values. */
export type JsonChange = {
  /**
   * `data[3].net`; empty for the whole value. Indexes refer to the later value, those of removed elements to
   * the earlier one.
   */
  readonly path: string;
  readonly is: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
};

/**
 * The differences between two values, as `losslessValue` reads them. List elements with ids are compared by
 * id, others by index.
 */
export function jsonChanges(before: unknown, after: unknown): readonly JsonChange[] {
  const found: JsonChange[] = [];
  compare("", before, after, found);
  return found;
}

function compare(path: string, before: unknown, after: unknown, found: JsonChange[]): void {
  const parts = partsOf(path, before, after);
  if (parts === undefined) {
    if (textOf(before) !== textOf(after)) found.push({ path, is: "changed", before, after });
    return;
  }
  const [old, fresh] = parts;
  for (const [key, { at, value }] of fresh) {
    const known = old.get(key);
    if (known === undefined) found.push({ path: at, is: "added", after: value });
    else compare(at, known.value, value, found);
  }
  for (const [key, { at, value }] of old)
    if (!fresh.has(key)) found.push({ path: at, is: "removed", before: value });
}

/** Members or elements and their paths. Two values are compared by these keys. */
type Parts = ReadonlyMap<string | number, { readonly at: string; readonly value: unknown }>;
type List = readonly unknown[];

/** The parts of two objects or two lists; undefined for other values. */
function partsOf(path: string, before: unknown, after: unknown): readonly [Parts, Parts] | undefined {
  if (isObject(before) && isObject(after)) return [membersOf(path, before), membersOf(path, after)];
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  const [old, fresh] = [idsOf(before), idsOf(after)];
  const places = placesOf(before, after);
  const keys = old === undefined || fresh === undefined ? places : [old, fresh];
  const elementsOf = (list: List, names: List) =>
    new Map(list.map((value, at) => [String(names[at]), { at: `${path}[${at}]`, value }]));
  return [elementsOf(before, keys[0]), elementsOf(after, keys[1])];
}

function membersOf(path: string, value: object): Parts {
  return new Map(
    Object.entries(value).map(([name, member]) => [name, { at: memberPath(path, name), value: member }]),
  );
}

/** Counts the equal elements at the end from there, so that an inserted element is one change. */
function placesOf(before: List, after: List): readonly [List, List] {
  const [old, fresh] = [before.map(textOf), after.map(textOf)];
  let last = 0;
  while (last < Math.min(old.length, fresh.length) && old.at(-1 - last) === fresh.at(-1 - last)) last += 1;
  const placesIn = (list: List) => list.map((_, at) => (at < list.length - last ? at : at - list.length));
  return [placesIn(before), placesIn(after)];
}

/** Undefined unless each element is an object with a unique id. */
function idsOf(list: List): readonly string[] | undefined {
  const ids = list.flatMap((element) => {
    const id = isObject(element) && "id" in element ? element.id : undefined;
    return typeof id === "string" || isRawNumber(id) ? textOf(id) : [];
  });
  return new Set(ids).size === list.length ? ids : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

function memberPath(path: string, name: string): string {
  if (!/^[\w-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
