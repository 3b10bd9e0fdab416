import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Receipts } from "../../../domain/event/receipts.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import type { DocumentVersion } from "../../../domain/fetch/document-version.ts";
import type { State } from "../../../domain/state/state.ts";
import { keyOf, type Name } from "./provider.ts";

/** `version` is nothing that the pipeline knows: the provider's version that was announced. */
export type StoredEvent = {
  readonly event: IncomeEvent;
  readonly receipts: Receipts;
  readonly version: number;
};

export type StoredDocument = DocumentVersion & {
  readonly name: Name;
  readonly object?: string;
  /** By the clock of who wrote it: for people, nothing is decided by it. */
  readonly fetchedAt: number;
  /** Nothing that the pipeline knows: the provider's version that was read, when its read began, and for which messages. */
  readonly truth: {
    readonly version: number;
    readonly began: number;
    readonly messages: readonly string[];
  };
};

/** What the stream's filter lets through, in order. */
export type Change =
  | { readonly of: "event"; readonly before: StoredEvent | undefined; readonly after: StoredEvent }
  | { readonly of: "state"; readonly before: State | undefined; readonly after: State }
  | { readonly of: "document"; readonly after: StoredDocument };

/** For so long an eventually consistent read misses a write, in milliseconds. */
const lagInMillis = 1_000;

/** The table with its conditional writes and its stream. */
export class Table {
  readonly events = new Map<string, StoredEvent>();
  readonly states = new Map<string, State>();
  readonly documents = new Map<string, StoredDocument>();
  readonly tombstones = new Set<string>();
  readonly stream: Change[] = [];
  /** Write units: also a write whose condition failed is billed. */
  units = 0;
  readonly #now: () => number;
  readonly #previous = new Map<string, { readonly item: StoredEvent | undefined; readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns whether there was none */
  insertEvent(after: StoredEvent): boolean {
    this.units += 1;
    if (this.events.has(after.event.id)) return false;
    this.#writeEvent(undefined, after);
    return true;
  }

  /** @returns whether the receipts still were as they had been read */
  countEvent({ event, receipts }: StoredEvent, after: Receipts, version: number): boolean {
    this.units += 1;
    const before = this.events.get(event.id);
    if (before === undefined || JSON.stringify(before.receipts) !== JSON.stringify(receipts)) return false;
    this.#writeEvent(before, { event, receipts: after, version: Math.max(before.version, version) });
    return true;
  }

  lookUpEvent(id: string, isConsistent: boolean): StoredEvent | undefined {
    const previous = this.#previous.get(id);
    if (!isConsistent && previous !== undefined && previous.until > this.#now()) return previous.item;
    return this.events.get(id);
  }

  writeState(before: State | undefined, after: State): boolean {
    this.units += 1;
    const key = nameOf(after.subject);
    const known = this.states.get(key);
    if (known?.version !== before?.version) return false;
    this.states.set(key, after);
    this.stream.push({ of: "state", before: known, after });
    return true;
  }

  /** @param known the `asOf` that must still be there; undefined: there must be no document */
  writeDocument(known: number | undefined, after: StoredDocument, news: boolean): boolean {
    this.units += 1;
    const key = keyOf(after.name);
    if (this.documents.get(key)?.asOf !== known) return false;
    this.documents.set(key, after);
    if (news) this.stream.push({ of: "document", after });
    return true;
  }

  isErased(subject: Subject): boolean {
    return this.tombstones.has(nameOf(subject));
  }

  /** Deletes all that is stored of a subject. Its past stays in the stream. */
  erase(subject: Subject): void {
    const name = nameOf(subject);
    this.states.delete(name);
    for (const [key, { event }] of this.events)
      if (nameOf(subjectOf(event)) === name) this.events.delete(key);
    for (const [key, { name: document }] of this.documents) {
      if (nameOf(document.subject) === name) this.documents.delete(key);
    }
  }

  #writeEvent(before: StoredEvent | undefined, after: StoredEvent): void {
    const key = after.event.id;
    this.#previous.set(key, { item: before, until: this.#now() + lagInMillis });
    this.events.set(key, after);
    this.stream.push({ of: "event", before, after });
  }
}
