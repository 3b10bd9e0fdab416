import { documentKey, eventKey, type Key, stateKey } from "../../../adapters/dynamodb/keys.ts";
import type { StoredChange, StoredChanges, StoredPage } from "../../../adapters/streams/stored-changes.ts";
import type { KnownRecords } from "../../../cli/records/known-records.ts";
import { repair } from "../../../cli/recovery/repair.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, ownerOf, type Subject } from "../../../domain/event/subjects.ts";
import {
  type DocumentRecord,
  fetched,
  requestFetch,
  requestFetchFor,
} from "../../../domain/fetch/document.ts";
import { type DataName, nameOfData } from "../../../domain/fetch/document-name.ts";
import type { Task } from "../../../domain/fetch/tasks.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import type { Period } from "../../../domain/recovery/repair.ts";
import type { Change } from "../../../domain/state/change.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { eventChange } from "../../domain/samples.ts";

/** What the provider would say of an account. */
export type Truth = { connected: boolean; deleted: boolean };

/**
 * Table, stream, relay, fetch queue and provider in small: the domain's own functions, moved by plain loops. Records of
 * the stream get lost as `isLost` says.
 */
export class PipelineSimulation {
  readonly events = new Map<string, { event: IncomeEvent; receipts: number }>();
  readonly states = new Map<string, State>();
  readonly documents = new Map<string, DocumentRecord>();
  readonly links = new Set<string>();
  readonly messages: Message[] = [];
  readonly started = new Set<string>();
  readonly truths = new Map<string, Truth>();
  /** What an endpoint's data is now, by the name of the document. */
  readonly contents = new Map<string, string>();
  /** What happens between the pages of a scan, one after the other. */
  readonly meanwhile: (() => void)[] = [];
  lost = 0;
  readonly #stream: Change[] = [];
  readonly #tasks: Task[] = [];
  #isLost: () => boolean;
  #seconds = 0;

  constructor(isLost: () => boolean) {
    this.#isLost = isLost;
  }

  receive(received: IncomeEvent): void {
    const { event, receipts: before } = this.events.get(received.id) ?? { event: received, receipts: 0 };
    const receipts = before + 1;
    this.events.set(event.id, { event, receipts });
    this.#write(eventChange(event, receipts));
  }

  /** Until nothing is left to do. */
  waitUntilIdle(): void {
    for (;;) {
      const change = this.#stream.shift();
      if (change !== undefined) {
        this.relay(change);
        continue;
      }
      const task = this.#tasks.shift();
      if (task === undefined) return;
      this.#perform(task);
    }
  }

  /** As the relay does: `functions/relay/relay.ts`. */
  relay(change: Change): void {
    for (const consequence of consequencesOf(change, "urn:test")) {
      switch (consequence.do) {
        case "applyEvent": {
          const { subject, event, receipts } = consequence;
          this.#reviseState(subject, (known) => applyEvent(known, event, receipts));
          break;
        }
        case "requestFetch": {
          const { subject, endpoint, event, receipts } = consequence;
          const name = { endpoint };
          this.#reviseDataSet(subject, name, (known) =>
            requestFetch(known, subject, name, { event, receipts }),
          );
          break;
        }
        case "link":
          this.links.add(`${consequence.userId} ${consequence.accountId}`);
          break;
        case "call":
          this.#tasks.push(consequence.task);
          break;
        case "publish":
          this.messages.push(consequence.message);
      }
    }
  }

  /** Nothing more gets lost, and everything is repaired in pages of a few items. */
  async repair(period: Period = {}): Promise<void> {
    this.#isLost = () => false;
    await repair(
      {
        pages: this.#pages(),
        versionedRecords: this.records(),
        relay: async (changes) => {
          for (const change of changes) this.relay(structuredClone(change));
          return [];
        },
        onPage: () => undefined,
      },
      period,
    );
    this.waitUntilIdle();
  }

  /** Pages of a few items as they are when they are read, in the order of keys; the pipeline goes on between them. */
  async *#pages(after?: Key): AsyncGenerator<StoredPage> {
    for (let last = after; ; ) {
      const behind = last;
      const found = this.#items()
        .filter(({ key }) => behind === undefined || isBehind(key, behind))
        .slice(0, 3);
      if (found.length === 0) return;
      last = found.at(-1)?.key;
      yield { found, unreadable: [], examined: found.length };
      this.meanwhile.shift()?.();
      this.waitUntilIdle();
    }
  }

  #items(): readonly StoredChange[] {
    const items: StoredChange[] = [
      ...[...this.states.values()].map((after) => ({
        key: stateKey(after.subject),
        change: { of: "state", before: undefined, after } as const,
      })),
      ...[...this.events.values()].map((stored) => ({
        key: eventKey(ownerOf(stored.event), stored.event.id),
        change: eventChange(stored.event, stored.receipts, 0),
      })),
      ...[...this.documents.values()].map((after) => ({
        key: documentKey(after.subject, after),
        change: { of: "data", before: undefined, after } as const,
      })),
    ];
    return items.toSorted(({ key: one }, { key: other }) => (isBehind(one, other) ? 1 : -1));
  }

  stored(): StoredChanges {
    const all = (after?: Key) => this.#pages(after);
    return { all, of: (_, after) => all(after), has: async ({ id }) => this.events.has(id) };
  }

  records(): KnownRecords {
    return {
      loadState: async (subject) => this.states.get(nameOf(subject)),
      loadDocuments: async (subject) =>
        [...this.documents.values()].filter((document) => nameOf(document.subject) === nameOf(subject)),
    };
  }

  #write(change: Change): void {
    if (this.#isLost()) this.lost += 1;
    else this.#stream.push(change);
  }

  #reviseState(subject: Subject, change: (known: State | undefined) => State | undefined): void {
    const before = this.states.get(nameOf(subject));
    const after = change(before);
    if (after === undefined) return;
    this.states.set(nameOf(subject), after);
    this.#write({ of: "state", before, after });
  }

  #reviseDataSet(
    subject: Subject,
    name: DataName,
    change: (known: DocumentRecord | undefined) => DocumentRecord | undefined,
  ): void {
    const key = `${nameOf(subject)}/${nameOfData(name, "/")}`;
    const before = this.documents.get(key);
    const after = change(before);
    if (after === undefined) return;
    this.documents.set(key, after);
    this.#write({ of: "data", before, after });
  }

  #perform(task: Task): void {
    this.#seconds += 1;
    const at = new Date(Date.UTC(2026, 2, 1, 13, 0, this.#seconds));
    const { subject } = task;
    switch (task.task) {
      case "start":
        this.started.add(nameOf(subject));
        this.#reviseDataSet(subject, { endpoint: "income" }, (known) =>
          requestFetchFor(known, subject, { endpoint: "income" }, { key: `start.${task.version}` }),
        );
        return;
      case "ask": {
        if (this.states.get(nameOf(subject))?.version !== task.version) return;
        const { connected, deleted } = this.truths.get(subject.id) ?? { connected: false, deleted: false };
        const answer = deleted ? ({ found: false } as const) : ({ found: true, connected } as const);
        try {
          this.#reviseState(subject, (known) => applyProviderAnswer(known, task.version, answer, { at }));
        } catch (error) {
          // Nobody has announced the deletion yet: the real task waits; here the event that announces it asks again.
          if (failureOf(error).kind === "permanent") throw error;
        }
        return;
      }
      case "read": {
        const key = `${nameOf(subject)}/${nameOfData(task, "/")}`;
        const known = this.documents.get(key);
        if (known === undefined || task.wanted <= known.done) return;
        this.#reviseDataSet(subject, task, (current) =>
          current === undefined ? undefined : fetched(current, known.wanted, this.contents.get(key), { at }),
        );
        return;
      }
      case "check":
    }
  }
}

function isBehind(one: Key, other: Key): boolean {
  return one.pk === other.pk ? one.sk > other.sk : one.pk > other.pk;
}
