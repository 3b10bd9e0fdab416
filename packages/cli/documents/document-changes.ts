import type { DocumentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import type { StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import { mask } from "../../../domain/core/mask.ts";
import { isTooDeep } from "../../../domain/event/json.ts";
import { losslessValue } from "../../../domain/event/lossless-json.ts";
import { oneLine, printableJson } from "../core/printable.ts";
import type { Showing } from "../core/shown-json.ts";
import { tableText } from "../core/table.ts";
import { type JsonChange, jsonChanges } from "./json-changes.ts";

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
  if (changes === null) return "No version before it is kept: see retention.documentVersionsDays.";
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
