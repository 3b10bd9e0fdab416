import { nameOf as nameOfKey, type ReadKey } from "../../adapters/dynamodb/shared-reads.ts";
import type { WriteItem } from "../../adapters/dynamodb/shared-writes.ts";
import type { RecordName, Change as Revision } from "../../adapters/dynamodb/versioned-records.ts";
import { retryable, waiting } from "../../domain/core/failures.ts";
import { fieldsOf } from "../../domain/core/parse.ts";
import { type IncomeEvent, parseEvent } from "../../domain/event/events.ts";
import { parseReceipts, type Receipts } from "../../domain/event/receipts.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { DocumentRecord } from "../../domain/fetch/document.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";
import type { Change } from "../../domain/state/change.ts";
import type { State } from "../../domain/state/state.ts";
import type { Do } from "./processes.ts";

/** What is done otherwise than by the table's conditions, to show that the promises notice. */
export type TableMutation =
  | "none"
  | "a receipt is inserted again"
  | "an update overwrites"
  | "content overwrites";

type Stored = { readonly event: IncomeEvent; readonly receipts: Receipts };
type Claim = { readonly noted: number; readonly until: number };
type Versioned = { readonly version: number };

/** Records that were read before they are updated, by key; each is kept as it is written. */
export type Ahead = {
  readonly states: Map<string, State | undefined>;
  readonly dataSets: Map<string, DocumentRecord | undefined>;
};

const maxAttempts = 8;

/** Which record is updated, and who is announced it. */
type RevisedRecord<T> = {
  readonly records: Map<string, T>;
  readonly key: string;
  /** What was read before, by key. */
  readonly ahead: Map<string, T | undefined>;
  readonly emit: (before: T | undefined, after: T) => void;
};

/** The table with its conditional writes, and its stream: what the relay's filter lets through, in order. */
export class Table {
  readonly events = new Map<string, Stored>();
  readonly states = new Map<string, State>();
  readonly dataSets = new Map<string, DocumentRecord>();
  readonly contents = new Map<string, { readonly noted: number; readonly text: string | undefined }>();
  readonly links = new Set<string>();
  readonly stream: Change[] = [];
  readonly #claims = new Map<string, Claim>();
  readonly #mutation: TableMutation;
  refusedVersion: { readonly id: string; readonly isEnded: boolean } | undefined;

  constructor(mutation: TableMutation = "none") {
    this.#mutation = mutation;
  }

  readEvent(key: Parameters<ReadKey>[0]): Awaited<ReturnType<ReadKey>> {
    return this.events.get(nameOfKey(key));
  }

  /** A write of an event, under its conditions. */
  writeEvent(write: Parameters<WriteItem>[0]): Awaited<ReturnType<WriteItem>> {
    const name = nameOfKey(write.key);
    const known = this.events.get(name);
    const before = this.#mutation === "a receipt is inserted again" ? undefined : known;
    if (write.kind === "insert") {
      if (before !== undefined) return "conflict";
      const { event, receipts } = write.attributes;
      this.#keepEvent(known === undefined ? name : `${name} ${this.events.size}`, undefined, {
        event: parseEvent(event),
        receipts: parseReceipts(receipts),
      });
      return "written";
    }
    if (
      known === undefined ||
      !write.where.every(({ path, is, value }) => (at(known, path) === value) === (is === "="))
    )
      return "conflict";
    this.#keepEvent(name, known, { event: known.event, receipts: parseReceipts(write.value) });
    return "written";
  }

  #keepEvent(name: string, before: Stored | undefined, after: Stored): void {
    this.events.set(name, after);
    this.stream.push({ of: "event", ...after, countBefore: before?.receipts.count ?? 0 });
  }

  readAhead(names: readonly RecordName[]): Ahead {
    const ahead: Ahead = { states: new Map(), dataSets: new Map() };
    for (const { subject, name } of names) {
      if (name === undefined) ahead.states.set(nameOf(subject), this.loadState(subject));
      else ahead.dataSets.set(keyOf(subject, name), this.loadDocument(subject, name));
    }
    return ahead;
  }

  reviseState(
    step: Do,
    subject: Subject,
    change: Revision<State>,
    { ahead, known }: { readonly ahead: Ahead["states"]; readonly known: State | undefined },
  ): Promise<void> {
    const key = nameOf(subject);
    return this.#revise(step, change, {
      records: this.states,
      key,
      ahead: known ? new Map([[key, known]]) : ahead,
      emit: (before, after) => this.stream.push({ of: "state", before, after }),
    });
  }

  reviseDocument(
    step: Do,
    { subject, name }: { readonly subject: Subject; readonly name: DataName },
    change: Revision<DocumentRecord>,
    { ahead, known }: { readonly ahead: Ahead["dataSets"]; readonly known: DocumentRecord | undefined },
  ): Promise<void> {
    const key = keyOf(subject, name);
    return this.#revise(step, change, {
      records: this.dataSets,
      key,
      ahead: known ? new Map([[key, known]]) : ahead,
      emit: (before, after) => this.stream.push({ of: "data", before, after }),
    });
  }

  loadState(subject: Subject): State | undefined {
    return this.states.get(nameOf(subject));
  }

  loadDocuments(subject: Subject): readonly DocumentRecord[] {
    return [...this.dataSets.values()].filter((document) => nameOf(document.subject) === nameOf(subject));
  }

  loadDocument(subject: Subject, name: DataName): DocumentRecord | undefined {
    return this.dataSets.get(keyOf(subject, name));
  }

  storeContent(subject: Subject, name: DataName, noted: number, text: string | undefined): void {
    const key = keyOf(subject, name);
    const isOlder = noted < (this.contents.get(key)?.noted ?? 0);
    if (!isOlder || this.#mutation === "content overwrites") this.contents.set(key, { noted, text });
  }

  contentOf(subject: Subject, name: DataName): string | undefined {
    return this.contents.get(keyOf(subject, name))?.text;
  }

  /** @returns what is to be given back */
  claim(
    subject: Subject,
    name: DataName,
    noted: number,
    {
      lookedAt,
      now,
      lifetime,
    }: { readonly lookedAt: number; readonly now: number; readonly lifetime: number },
  ): Claim {
    const key = keyOf(subject, name);
    const known = this.#claims.get(key);
    const isFree =
      known === undefined || known.noted < noted || (known.noted === noted && known.until <= lookedAt);
    if (!isFree) throw waiting("another task reads this data", Math.max(1, known.until - now), 0);
    const claim = { noted, until: now + lifetime };
    this.#claims.set(key, claim);
    return claim;
  }

  giveBack(subject: Subject, name: DataName, claim: Claim): void {
    const key = keyOf(subject, name);
    if (this.#claims.get(key) === claim) this.#claims.set(key, { ...claim, until: 0 });
  }

  /** Notes which version of the token is refused, as `RefusalNote` says. */
  noteRefusal(id: string): "noted" | "known" | "ended" {
    if (this.refusedVersion?.id === id) return this.refusedVersion.isEnded ? "ended" : "known";
    this.refusedVersion = { id, isEnded: false };
    return "noted";
  }

  concludeRefusal(id: string, isEnded: boolean): void {
    if (this.refusedVersion?.id === id) this.refusedVersion = { id, isEnded };
  }

  async #revise<T extends Versioned>(
    step: Do,
    change: Revision<T>,
    { records, key, ahead, emit }: RevisedRecord<T>,
  ): Promise<void> {
    for (let tries = 0; tries < maxAttempts; tries += 1) {
      const isAhead = ahead.has(key);
      const next = change(isAhead ? ahead.get(key) : await step("reads a record", () => records.get(key)));
      if (next === undefined) return;
      const isWritten = await step("writes a record", () => {
        const before = records.get(key);
        const isStill = (before?.version ?? 0) === next.version - 1;
        if (!isStill && this.#mutation !== "an update overwrites") return false;
        records.set(key, next);
        emit(before, next);
        return true;
      });
      if (isWritten && isAhead) ahead.set(key, next);
      if (isWritten) return;
      ahead.delete(key);
    }
    throw retryable("record contended", 1);
  }
}

function keyOf(subject: Subject, name: DataName): string {
  return `${nameOf(subject)} ${nameOfData(name, "/")}`;
}

function at(item: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => fieldsOf(value, name)[name], item);
}
