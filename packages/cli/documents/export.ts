import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import {
  contentOfDocument,
  type ReadDocuments,
  type StoredDocument,
  textOfContent,
} from "../../../adapters/dynamodb/documents.ts";
import type { Key } from "../../../adapters/dynamodb/keys.ts";
import type { DocumentPage } from "../../../adapters/dynamodb/table-scan.ts";
import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { FailureError } from "../../../domain/core/failures.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { nameOfData } from "../../../domain/fetch/document.ts";
import type { OnScanned } from "../core/scan-consent.ts";
import { type DocumentFilter, selects } from "./document-filter.ts";
import { type ExportDirectory, type ExportState, rowOf, startOf } from "./export-directory.ts";

export type ExportPorts = {
  readonly scan: (after: Key | undefined) => AsyncIterable<DocumentPage>;
  readonly readDocuments: ReadDocuments;
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
  directory: ExportDirectory,
  filter: DocumentFilter,
  ports: ExportPorts,
  limits: FileLimits = usualLimits,
): Promise<ExportState> {
  let { state } = directory;
  await directory.begin();
  const pages = ports.scan(startOf(state))[Symbol.asyncIterator]();
  while (state.after !== undefined && !ports.signal.aborted) {
    const { name, partial } = directory.nextFile(state);
    const file = new ExportFile(state, filter, ports);
    await pipeline(
      Readable.from(file.rows(pages, limits)),
      createGzip(),
      createWriteStream(partial, { mode: 0o600 }),
    );
    const count = file.state.documents - state.documents;
    state = count === 0 ? file.state : { ...file.state, files: [...state.files, name] };
    if (count === 0) await rm(partial);
    await directory.save(state, count === 0 ? undefined : name);
    if (count > 0) ports.onFile(name, count);
  }
  return state;
}

/** Reads the pages of one file, and tracks the progress. */
class ExportFile {
  #state: ExportState;
  readonly #filter: DocumentFilter;
  readonly #ports: ExportPorts;

  constructor(state: ExportState, filter: DocumentFilter, ports: ExportPorts) {
    this.#state = state;
    this.#filter = filter;
    this.#ports = ports;
  }

  get state(): ExportState {
    return this.#state;
  }

  async *rows(pages: AsyncIterator<DocumentPage>, limits: FileLimits): AsyncGenerator<string> {
    let bytes = 0;
    for (let read = 0; read < limits.pages && bytes < limits.bytes; read += 1) {
      if (this.#ports.signal.aborted) return;
      const next = await pages.next();
      if (next.done === true) return this.#pass(undefined, 0);
      for (const stored of next.value.documents) {
        const row = await this.#rowOf(stored);
        if (row === undefined) continue;
        bytes += Buffer.byteLength(row);
        this.#state = { ...this.#state, documents: this.#state.documents + 1 };
        yield `${row}\n`;
      }
      this.#pass(next.value.last, next.value.examined);
      if (next.value.last === undefined) return;
    }
  }

  #pass(after: Key | undefined, examined: number): void {
    const { after: _, ...state } = this.#state;
    this.#state = { ...state, examined: state.examined + examined, ...(after && { after }) };
    this.#ports.onScanned(this.#state.examined, this.#state.documents);
  }

  /** Undefined if the document does not match, was erased meanwhile, or can't be read. */
  async #rowOf(stored: StoredDocument): Promise<string | undefined> {
    if (!selects(this.#filter, stored.document)) return undefined;
    const row = await readRow(stored, this.#ports);
    if (row !== undefined) return row;
    // Another version may have superseded it, and removed its object, since the page was read.
    const name = nameOfData(stored.document, "/");
    const now = (await this.#ports.readDocuments(stored.document.subject)).find(
      ({ document }) => nameOfData(document, "/") === name,
    );
    if (now === undefined || !selects(this.#filter, now.document)) return undefined;
    const again = await readRow(now, this.#ports);
    if (again === undefined) {
      const unreadable = [...this.#state.unreadable, `${nameOf(stored.document.subject)}/${name}`];
      this.#state = { ...this.#state, unreadable };
    }
    return again;
  }
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
