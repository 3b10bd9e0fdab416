import { nameOf as nameOfKey, type WriteItem } from "../../adapters/dynamodb/batching.ts";
import type { StoredDocument } from "../../adapters/dynamodb/documents.ts";
import { documentKey, type Key } from "../../adapters/dynamodb/keys.ts";
import type { ReviseState } from "../../adapters/dynamodb/versioned-records.ts";
import { changeOf } from "../../adapters/streams/change-stream.ts";
import { retryable } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf } from "../../domain/core/parse.ts";
import { type IncomeEvent, parseEvent } from "../../domain/event/events.ts";
import { parseReceipts, type Receipts } from "../../domain/event/receipts.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { type DataName, type Document, nameOfData } from "../../domain/fetch/document.ts";
import type { Change } from "../../domain/state/change.ts";
import type { State } from "../../domain/state/state.ts";
import type { Do } from "./processes.ts";

/** Deliberate faults in the table's conditions, to test that the promises notice. */
export type TableMutation =
  | "none"
  | "a receipt is inserted again"
  | "an update overwrites"
  | "a document overwrites"
  | "readiness overwrites";

/** States that were read before their update, by name; each is updated as it is written. */
export type Ahead = Map<string, State | undefined>;

type Write = Parameters<WriteItem>[0];

const maxAttempts = 8;

/**
 * The table with its conditional writes, and its stream of records that pass the relay's filter, in order.
 */
export class Table {
  readonly eventIds = new Set<string>();
  readonly states = new Map<string, State>();
  readonly documents = new Map<string, Document>();
  /** Events, documents, and the readiness of accounts and users. */
  readonly items = new Map<string, Key & Fields>();
  readonly #texts = new Map<string, string | undefined>();
  readonly links = new Set<string>();
  readonly stream: Change[] = [];
  readonly #mutation: TableMutation;
  refusedVersion: { readonly id: string; readonly isEnded: boolean } | undefined;

  /** Of which documents the stream passes every write. */
  readonly #awaited: readonly string[];

  constructor(mutation: TableMutation = "none", awaited: readonly string[] = []) {
    this.#mutation = mutation;
    this.#awaited = awaited;
  }

  /** Events with their receipts. */
  get events(): readonly { readonly event: IncomeEvent; readonly receipts: Receipts }[] {
    const items = [...this.items.values()].filter(({ sk }) => sk.startsWith("EVENT#"));
    return items.map(({ event, receipts }) => ({
      event: parseEvent(event),
      receipts: parseReceipts(receipts),
    }));
  }

  readItem(key: Key): (Key & Fields) | undefined {
    return this.items.get(nameOfKey(key));
  }

  writeEvent(write: Write): Awaited<ReturnType<WriteItem>> {
    const { pk, sk } = write.key;
    const isAgain = write.type === "insert" && this.#mutation === "a receipt is inserted again";
    const key = isAgain && this.readItem(write.key) ? { pk, sk: `${sk} ${this.items.size}` } : write.key;
    return this.#write({ ...write, key }, false);
  }

  writeReadiness(write: Write): Awaited<ReturnType<WriteItem>> {
    return this.#write(write, this.#mutation === "readiness overwrites");
  }

  /** Writes an item under its conditions. */
  #write(write: Write, overwrites: boolean): Awaited<ReturnType<WriteItem>> {
    const { key } = write;
    const before = this.readItem(key);
    if (write.type === "insert" && before !== undefined && !overwrites) return "conflict";
    if (write.type === "update" && (before === undefined || !(overwrites || holds(write.where, before))))
      return "conflict";
    const written = write.type === "insert" ? write.attributes : { [write.attribute]: write.value };
    const after = { ...before, ...written, ...key };
    this.items.set(nameOfKey(key), after);
    const change = changeOf(before, after);
    this.stream.push(change);
    if (change.type === "event") this.eventIds.add(change.event.id);
    return "written";
  }

  readAhead(subjects: readonly Subject[]): Ahead {
    return new Map(subjects.map((subject) => [nameOf(subject), this.loadState(subject)]));
  }

  loadState(subject: Subject): State | undefined {
    return this.states.get(nameOf(subject));
  }

  accountsOf(userId: string): readonly string[] {
    const links = [...this.links].map((link) => link.split(" "));
    return links.flatMap(([user, account = ""]) => (user === userId ? [account] : []));
  }

  loadDocuments(subject: Subject): readonly StoredDocument[] {
    return [...this.documents.values()]
      .filter((document) => nameOf(document.subject) === nameOf(subject))
      .map((document) => ({ document, storage: {} }));
  }

  loadDocument(subject: Subject, name: DataName): StoredDocument | undefined {
    const document = this.documents.get(keyOf(subject, name));
    return document && { document, storage: {} };
  }

  /** Overwrites the document that was read and no other; the stream's filter passes new ones. */
  saveDocument(
    known: StoredDocument | undefined,
    next: Document,
    text: string | undefined,
  ): "written" | "conflict" {
    const key = keyOf(next.subject, next);
    const before = this.documents.get(key);
    const isStill = before?.asOf === known?.document.asOf;
    if (!isStill && this.#mutation !== "a document overwrites") return "conflict";
    this.documents.set(key, next);
    this.#texts.set(key, text);
    const item = documentKey(next.subject, next);
    this.items.set(nameOfKey(item), { ...item, document: next });
    if (next.news || this.#awaited.includes(next.endpoint))
      this.stream.push({ type: "document", before, after: next });
    return "written";
  }

  contentOf(subject: Subject, name: DataName): string | undefined {
    return this.#texts.get(keyOf(subject, name));
  }

  /** Records which version of the token is refused, as `RefusalNote` defines. */
  noteRefusal(id: string): "noted" | "known" | "ended" {
    if (this.refusedVersion?.id === id) return this.refusedVersion.isEnded ? "ended" : "known";
    this.refusedVersion = { id, isEnded: false };
    return "noted";
  }

  concludeRefusal(id: string, isEnded: boolean): void {
    if (this.refusedVersion?.id === id) this.refusedVersion = { id, isEnded };
  }

  async reviseState(
    step: Do,
    subject: Subject,
    change: Parameters<ReviseState>[1],
    { ahead, known }: { readonly ahead: Ahead; readonly known: State | undefined },
  ): Promise<void> {
    const key = nameOf(subject);
    const read: Ahead = known ? new Map([[key, known]]) : ahead;
    for (let tries = 0; tries < maxAttempts; tries += 1) {
      const isAhead = read.has(key);
      const next = change(isAhead ? read.get(key) : await step("reads a record", () => this.states.get(key)));
      if (next === undefined) return;
      const isWritten = await step("writes a record", () => this.#writeState(key, next));
      if (isWritten && isAhead) read.set(key, next);
      if (isWritten) return;
      read.delete(key);
    }
    throw retryable("record contended", 1);
  }

  #writeState(key: string, next: State): boolean {
    const before = this.states.get(key);
    const isStill = (before?.version ?? 0) === next.version - 1;
    if (!isStill && this.#mutation !== "an update overwrites") return false;
    this.states.set(key, next);
    this.stream.push({ type: "state", before, after: next });
    return true;
  }
}

function keyOf(subject: Subject, name: DataName): string {
  return `${nameOf(subject)} ${nameOfData(name, "/")}`;
}

function holds(conditions: Extract<Write, { type: "update" }>["where"], item: object): boolean {
  return conditions.every(({ path, operator: is, value }) => (at(item, path) === value) === (is === "="));
}

function at(item: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => fieldsOf(value, name)[name], item);
}
