import { nameOf, type Write } from "../../adapters/dynamodb/batching.ts";
import { readDocument, type StoredDocument } from "../../adapters/dynamodb/documents.ts";
import {
  documentKey,
  documentPrefix,
  eventPrefix,
  type Key,
  linkKey,
  linkPrefix,
  partitionOf,
  stateKey,
} from "../../adapters/dynamodb/keys.ts";
import { changeOf } from "../../adapters/streams/change-stream.ts";
import { type Fields, fieldsOf } from "../../domain/core/parse.ts";
import { type IncomeEvent, parseEvent } from "../../domain/event/events.ts";
import { parseReceipts, type Receipts } from "../../domain/event/receipts.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { DataName } from "../../domain/fetch/document.ts";
import type { Change } from "../../domain/state/change.ts";
import { parseState, type State } from "../../domain/state/state.ts";

/** Deliberate faults in the table's conditions, to test that the promises notice. */
export type TableMutation =
  | "none"
  | "a receipt is inserted again"
  | "an update overwrites"
  | "a document overwrites"
  | "readiness overwrites";

/** Prefixes of the sort keys of items that are written whatever their conditions say. */
const overwritten: Readonly<Record<TableMutation, string | undefined>> = {
  none: undefined,
  "a receipt is inserted again": undefined,
  "an update overwrites": "STATE",
  "a document overwrites": documentPrefix,
  "readiness overwrites": "READINESS",
};

type Item = Key & Fields;

/**
 * The table with its conditional writes, and its stream of records that pass the relay's filter, in order.
 */
export class Table {
  readonly eventIds = new Set<string>();
  readonly stream: Change[] = [];
  readonly #items = new Map<string, Item>();
  readonly #mutation: TableMutation;
  refusedVersion: { readonly id: string; readonly isEnded: boolean } | undefined;

  /** Of which documents the stream passes every write. */
  readonly #awaited: readonly string[];

  constructor(mutation: TableMutation = "none", awaited: readonly string[] = []) {
    this.#mutation = mutation;
    this.#awaited = awaited;
  }

  get items(): readonly Item[] {
    return [...this.#items.values()];
  }

  /** Events with their receipts. */
  get events(): readonly { readonly event: IncomeEvent; readonly receipts: Receipts }[] {
    const items = this.items.filter(({ sk }) => sk.startsWith(eventPrefix));
    return items.map(({ event, receipts }) => ({
      event: parseEvent(event),
      receipts: parseReceipts(receipts),
    }));
  }

  read(key: Key): Item | undefined {
    return this.#items.get(nameOf(key));
  }

  /** Writes an item under its conditions. */
  write(write: Write): "written" | "conflict" {
    const key = this.#mutation === "a receipt is inserted again" ? this.#another(write) : write.key;
    const prefix = overwritten[this.#mutation];
    const overwrites = prefix !== undefined && key.sk.startsWith(prefix);
    const before = this.read(key);
    if (write.type === "insert" && before !== undefined && !overwrites) return "conflict";
    if (write.type === "update" && (before === undefined || !(overwrites || holds(write.where, before))))
      return "conflict";
    const written = write.type === "insert" ? write.attributes : { [write.attribute]: write.value };
    const after = { ...before, ...written, ...key };
    this.#items.set(nameOf(key), after);
    if (!key.sk.startsWith(linkPrefix)) this.#pass(changeOf(before, after));
    return "written";
  }

  /** The key of an event that is stored although it is known. */
  #another({ type, key }: Write): Key {
    const isAgain = type === "insert" && key.sk.startsWith(eventPrefix) && this.read(key) !== undefined;
    return isAgain ? { pk: key.pk, sk: `${key.sk} ${this.#items.size}` } : key;
  }

  /** Adds a change to the stream unless the relay's filter leaves it out. */
  #pass(change: Change): void {
    if (change.type === "event") this.eventIds.add(change.event.id);
    if (change.type !== "document" || change.after.news || this.#awaited.includes(change.after.endpoint))
      this.stream.push(change);
  }

  loadState(subject: Subject): State | undefined {
    const item = this.read(stateKey(subject));
    return item && parseState(item.state);
  }

  accountsOf(userId: string): readonly string[] {
    return this.#itemsUnder(linkKey(userId, "")).map(({ sk }) => sk.slice(linkPrefix.length));
  }

  loadDocuments(subject: Subject): readonly StoredDocument[] {
    return this.#itemsUnder({ pk: partitionOf(subject), sk: documentPrefix }).map(readDocument);
  }

  loadDocument(subject: Subject, name: DataName): StoredDocument | undefined {
    const item = this.read(documentKey(subject, name));
    return item && readDocument(item);
  }

  #itemsUnder({ pk, sk }: Key): readonly Item[] {
    return this.items.filter((item) => item.pk === pk && item.sk.startsWith(sk));
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
}

function holds(conditions: Extract<Write, { type: "update" }>["where"], item: object): boolean {
  return conditions.every(({ path, operator: is, value }) => (at(item, path) === value) === (is === "="));
}

function at(item: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => fieldsOf(value, name)[name], item);
}
