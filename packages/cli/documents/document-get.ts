import { type DocumentVersions, supersededVersion } from "../../../adapters/dynamodb/document-versions.ts";
import { contentOfDocument, type StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { mask } from "../../../domain/core/mask.ts";
import { isTooDeep } from "../../../domain/event/json.ts";
import { isRawNumber, losslessValue } from "../../../domain/event/lossless-json.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../../domain/fetch/document.ts";
import { isWanted, type VersionWanted } from "../../../domain/read/route.ts";
import { CommandError } from "../core/command-error.ts";
import { unknownSubject } from "../core/flags.ts";
import type { Showing } from "../core/shown-json.ts";
import { tableText } from "../core/table.ts";
import { oneLine, printableJson } from "../core/text.ts";
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

export type DocumentChanges = {
  /** The previous version, and since when it was current. */
  readonly version: string;
  readonly observedAt: string;
  readonly count: number;
  /** The first changes, up to a maximum. */
  readonly changes: readonly JsonChange[];
};

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
): DocumentChanges {
  const shown = new Set(ids.filter((id) => id !== undefined));
  const show = (value: unknown) => (reveal ? value : mask(plain(value), { shown }));
  const found = jsonChanges(parsedOf(before), parsedOf(after));
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

/** Text that is not JSON, or is nested too deeply, is compared as one string. */
function parsedOf(text: string): unknown {
  if (isTooDeep(text)) return text;
  try {
    return losslessValue(text);
  } catch {
    return text;
  }
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
    `${title}: ${count} ${count === 1 ? "change" : "changes"}${count > shown.length ? `, of which ${shown.length} are shown` : ""}.`,
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
  if (Array.isArray(before) && Array.isArray(after)) compareLists(path, before, after, found);
  else if (isObject(before) && isObject(after)) compareObjects(path, before, after, found);
  else if (textOf(before) !== textOf(after)) found.push({ path, is: "changed", before, after });
}

function compareObjects(path: string, before: object, after: object, found: JsonChange[]): void {
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  for (const name of new Set([...old.keys(), ...fresh.keys()])) {
    const [one, other, at] = [old.get(name), fresh.get(name), memberPath(path, name)];
    if (!old.has(name)) found.push({ path: at, is: "added", after: other });
    else if (!fresh.has(name)) found.push({ path: at, is: "removed", before: one });
    else compare(at, one, other, found);
  }
}

type List = readonly unknown[];

function compareLists(path: string, before: List, after: List, found: JsonChange[]): void {
  const [old, fresh] = [byId(before), byId(after)];
  if (old === undefined || fresh === undefined) comparePlaces(path, before, after, found);
  else {
    for (const [id, { at, element }] of fresh) {
      const known = old.get(id);
      if (known === undefined) found.push({ path: `${path}[${at}]`, is: "added", after: element });
      else compare(`${path}[${at}]`, known.element, element, found);
    }
    for (const [id, { at, element }] of old)
      if (!fresh.has(id)) found.push({ path: `${path}[${at}]`, is: "removed", before: element });
  }
}

/** Skips the equal elements at both ends, so that an inserted element is one change. */
function comparePlaces(path: string, before: List, after: List, found: JsonChange[]): void {
  const [old, fresh] = [before.map(textOf), after.map(textOf)];
  const shorter = Math.min(old.length, fresh.length);
  let first = 0;
  while (first < shorter && old[first] === fresh[first]) first += 1;
  let last = 0;
  while (last < shorter - first && old.at(-1 - last) === fresh.at(-1 - last)) last += 1;
  for (let at = first; at < Math.max(old.length, fresh.length) - last; at += 1) {
    const [isOld, isFresh] = [at < old.length - last, at < fresh.length - last];
    if (isOld && isFresh) compare(`${path}[${at}]`, before[at], after[at], found);
    else if (isFresh) found.push({ path: `${path}[${at}]`, is: "added", after: after[at] });
    else found.push({ path: `${path}[${at}]`, is: "removed", before: before[at] });
  }
}

/** Undefined unless each element is an object with a unique id. */
function byId(
  list: List,
): ReadonlyMap<string, { readonly at: number; readonly element: object }> | undefined {
  const found = new Map<string, { readonly at: number; readonly element: object }>();
  for (const [at, element] of list.entries()) {
    if (!isObject(element) || !("id" in element)) return undefined;
    const { id } = element;
    if (typeof id !== "string" && !isRawNumber(id)) return undefined;
    found.set(textOf(id), { at, element });
  }
  return found.size === list.length ? found : undefined;
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
