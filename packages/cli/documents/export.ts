import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import {
  contentOfDocument,
  type documentReader,
  type StoredDocument,
  textOfContent,
} from "../../../adapters/dynamodb/documents.ts";
import type { Key } from "../../../adapters/dynamodb/keys.ts";
import type { DocumentPage } from "../../../adapters/dynamodb/table-scan.ts";
import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import {
  fieldsOf,
  jsonIn,
  numberOf,
  optionalText,
  parseJson,
  present,
  textOf,
  textsOf,
} from "../../../domain/core/parse.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { type Document, nameOfData } from "../../../domain/fetch/document.ts";
import { endedBy, nameFields } from "../../../domain/message/document-reference.ts";
import { CommandError } from "../core/command-error.ts";
import type { OnScanned } from "../core/scan-consent.ts";
import { type DocumentFilter, type FilterFlags, selects } from "./document-list.ts";

export type ExportPorts = {
  readonly scan: (after: Key | undefined) => AsyncIterable<DocumentPage>;
  readonly readDocuments: ReturnType<typeof documentReader>;
  readonly overflow: Pick<OverflowBucket, "get">;
  readonly onScanned: OnScanned;
  readonly onFile: (name: string, documents: number) => void;
  /** After an abort, the export stops at the end of the current page. */
  readonly signal: AbortSignal;
};

/** A file ends after the page that exceeds one of these limits; an interruption loses at most that much. */
export type FileLimits = { readonly bytes: number; readonly pages: number };
const usualLimits: FileLimits = { bytes: 64 * 2 ** 20, pages: 1_000 };

/** Writes all matching documents as rows, resuming an earlier run. @returns the progress */
export async function exportDocuments(
  { path, state: start, isResumed }: ExportDirectory,
  filter: DocumentFilter,
  ports: ExportPorts,
  limits: FileLimits = usualLimits,
): Promise<ExportState> {
  let state = start;
  const save = () => replace(join(path, stateFile), state);
  if (!isResumed) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await replace(join(path, "schema.json"), rowSchema);
    await save();
  }
  const pages = ports.scan(startOf(state))[Symbol.asyncIterator]();
  async function* rowsOfFile(): AsyncGenerator<string> {
    let bytes = 0;
    for (let read = 0; read < limits.pages && bytes < limits.bytes; read += 1) {
      if (ports.signal.aborted) return;
      const next = await pages.next();
      const { documents, examined, last }: DocumentPage = next.done === true ? noPage : next.value;
      for (const stored of documents) {
        const row = await currentRow(stored, filter, ports);
        if (row === undefined) continue;
        if (row === null) {
          const name = `${nameOf(stored.document.subject)}/${nameOfData(stored.document, "/")}`;
          state = { ...state, unreadable: [...state.unreadable, name] };
          continue;
        }
        bytes += Buffer.byteLength(row);
        state = { ...state, documents: state.documents + 1 };
        yield `${row}\n`;
      }
      const { after: _, ...passed } = state;
      state = { ...passed, examined: state.examined + examined, ...(last && { after: last }) };
      ports.onScanned(state.examined, state.documents);
      if (last === undefined) return;
    }
  }
  while (state.after !== undefined && !ports.signal.aborted) {
    const before = state.documents;
    const name = `documents-${String(state.files.length + 1).padStart(5, "0")}.ndjson.gz`;
    const partial = join(path, `${name}.partial`);
    const output = createWriteStream(partial, { mode: 0o600 });
    await pipeline(Readable.from(rowsOfFile()), createGzip(), output);
    const count = state.documents - before;
    if (count === 0) await rm(partial);
    else {
      // Before the progress: the next run overwrites a file that the progress does not count.
      await rename(partial, join(path, name));
      state = { ...state, files: [...state.files, name] };
      ports.onFile(name, count);
    }
    await save();
  }
  return state;
}

const noPage: DocumentPage = { documents: [], examined: 0 };

/** Undefined if the document does not match or was erased meanwhile; null if it can't be read. */
async function currentRow(
  stored: StoredDocument,
  filter: DocumentFilter,
  ports: ExportPorts,
): Promise<string | null | undefined> {
  if (!selects(filter, stored.document)) return undefined;
  const row = await readRow(stored, ports);
  if (row !== undefined) return row;
  // Another version may have superseded it, and removed its object, since the page was read.
  const name = nameOfData(stored.document, "/");
  const documents = await ports.readDocuments(stored.document.subject);
  const now = documents.find(({ document }) => nameOfData(document, "/") === name);
  if (now === undefined || !selects(filter, now.document)) return undefined;
  return (await readRow(now, ports)) ?? null;
}

/** Undefined if the data is missing or its digest differs. */
async function readRow(
  stored: StoredDocument,
  { overflow }: Pick<ExportPorts, "overflow">,
): Promise<string | undefined> {
  try {
    const content = await contentOfDocument(stored, overflow);
    return rowOf(stored.document, textOfContent(content?.parts ?? [], content?.contentType));
  } catch (error) {
    if (error instanceof FailureError || (error instanceof Error && error.name === "NoSuchKey"))
      return undefined;
    throw error;
  }
}

/** The query of an export as it was typed. The same query resumes the export. */
export type ExportQuery = FilterFlags & { readonly table: string };

export type ExportState = {
  readonly query: ExportQuery;
  /** When the export started, ISO 8601. Relative times such as `24h` in the query count from it. */
  readonly begunAt: string;
  readonly files: readonly string[];
  readonly documents: number;
  readonly examined: number;
  /** Documents whose data is missing. */
  readonly unreadable: readonly string[];
  /** The key to resume after; undefined if the export is complete. */
  readonly after?: Key;
};

/** The directory of an export, for files of rows, their schema, and the progress. */
export type ExportDirectory = {
  readonly path: string;
  readonly state: ExportState;
  readonly isResumed: boolean;
};

const stateFile = "export.json";
/** Stands for no key: nothing was read yet. No item of the table has it. */
const beginning: Key = { pk: "", sk: "" };

export function startOf({ after }: ExportState): Key | undefined {
  return after?.pk === beginning.pk ? undefined : after;
}

/**
 * Loads the progress of an earlier run, if any. @throws CommandError if the directory contains something else
 */
export async function openExport(directory: string, query: ExportQuery, now: Date): Promise<ExportDirectory> {
  const names = await namesIn(directory);
  const known = names.includes(stateFile) ? await readState(join(directory, stateFile)) : undefined;
  if (known === undefined && names.length > 0)
    throw CommandError.usage(`--to ${directory} is not empty: name a new directory.`);
  if (known !== undefined) checkSame(known, query, directory);
  const state: ExportState = known ?? {
    query,
    begunAt: now.toISOString(),
    ...{ files: [], documents: 0, examined: 0, unreadable: [], after: beginning },
  };
  return { path: directory, state, isResumed: known !== undefined };
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw CommandError.usage(`--to ${directory} is not a readable directory: name a new one.`);
  }
}

function checkSame(known: ExportState, query: ExportQuery, directory: string): void {
  if (JSON.stringify(present(known.query)) !== JSON.stringify(present(query)))
    throw CommandError.usage(
      `--to ${directory} holds another export, ${describeQuery(known.query)}: name a new directory.`,
    );
  if (known.after === undefined)
    throw CommandError.usage(
      `--to ${directory} holds this export whole, of ${known.begunAt}: name a new directory for another.`,
    );
}

function describeQuery({ table, endpoint, since, until }: ExportQuery): string {
  const flags = Object.entries({ endpoint, since, until }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value}`],
  );
  return [`of the table ${table}`, ...flags].join(" ");
}

/** Writes a file atomically. */
async function replace(path: string, value: object): Promise<void> {
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

async function readState(path: string): Promise<ExportState> {
  const fields = fieldsOf(parseJson(await readFile(path, "utf8"), path), path);
  const query = fieldsOf(fields.query, "query");
  const after = fields.after === undefined ? undefined : fieldsOf(fields.after, "after");
  const part = (name: string) => (typeof after?.[name] === "string" ? after[name] : "");
  return present<ExportState>({
    query: present<ExportQuery>({
      table: textOf(query, "table"),
      endpoint: optionalText(query, "endpoint"),
      since: optionalText(query, "since"),
      until: optionalText(query, "until"),
    }),
    begunAt: textOf(fields, "begunAt"),
    files: textsOf(fields, "files"),
    documents: numberOf(fields, "documents"),
    examined: numberOf(fields, "examined"),
    unreadable: textsOf(fields, "unreadable"),
    after: after && { pk: part("pk"), sk: part("sk") },
  });
}

const text = (description: string) => ({ type: "string", description }) as const;

const rowSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "A document",
  description: "One line of the exported files.",
  type: "object",
  properties: {
    subject: text("The document's subject, as in messages: `account/ID` or `company-account/ID`."),
    kind: { enum: ["account", "company-account"] },
    id: text("Of the account or company account."),
    userId: text("The account's user; absent if no event named one."),
    endpoint: text("The provider's endpoint."),
    dateStart: text("The first day, of a document of a range of dates."),
    dateEnd: text("The last day."),
    version: { type: "string", pattern: "^[0-9]+$", description: "The higher number is the newer one." },
    observedAt: { type: "string", format: "date-time", description: "Since when these data are known." },
    sha256: { type: "string", pattern: "^[0-9a-f]{64}$", description: "Of the provider's bytes." },
    size: { type: "integer", minimum: 0, description: "Of the provider's bytes." },
    document: { description: "The data, every digit as the provider wrote it." },
    text: text("The data where they are not JSON, in place of `document`."),
  },
  required: ["subject", "kind", "id", "endpoint", "version", "observedAt", "sha256", "size"],
  oneOf: [{ required: ["document"] }, { required: ["text"] }],
} as const;

/** A document as one line without a line end. @param content the provider's bytes as text */
export function rowOf(document: Document, content: string): string {
  const { subject, userId, announced = 0, digest, size } = document;
  const fields = present({
    subject: nameOf(subject),
    ...subject,
    userId,
    ...nameFields(document),
    version: String(announced),
    observedAt: new Date(announced).toISOString(),
    sha256: digest,
    size,
  });
  // JSON has line ends only between its tokens, never inside a string.
  return jsonIn(content) === undefined
    ? JSON.stringify({ ...fields, text: content })
    : endedBy(fields, "document", content.replace(/[\r\n]+/g, " "));
}
