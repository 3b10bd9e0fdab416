import { documentKey, eventKey, type Key, stateKey } from "../../../../adapters/dynamodb/keys.ts";
import type { StoredChange, StoredChanges, StoredPage } from "../../../../adapters/streams/stored-changes.ts";
import { failureOf } from "../../../../domain/core/failures.ts";
import type { IncomeEvent } from "../../../../domain/event/events.ts";
import type { Receipts } from "../../../../domain/event/receipts.ts";
import { nameOf, ownerOf, type Subject } from "../../../../domain/event/subjects.ts";
import {
  asOfOf,
  type Document,
  documentAfter,
  isCovered,
  messageDigest,
  nameOfData,
} from "../../../../domain/fetch/document.ts";
import { type DocumentTask, documentTask, type FetchTask } from "../../../../domain/fetch/task.ts";
import { consequencesOf } from "../../../../domain/message/consequences.ts";
import type { Message } from "../../../../domain/message/message-schemas.ts";
import type { Period } from "../../../../domain/recovery/repair.ts";
import type { Change } from "../../../../domain/state/change.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../../domain/state/state.ts";
import type { KnownRecords } from "../../../../packages/cli/records/known-records.ts";
import { repair } from "../../../../packages/cli/recovery/repair.ts";
import { receiptsOf } from "../../../domain/samples.ts";

/** The provider's state of an account. */
export type Truth = { connected: boolean; deleted: boolean };

/**
 * A small table, stream, relay, fetch queue and provider: the domain's own functions in plain loops. `isLost`
 * selects stream records to lose.
 */
export class PipelineSimulation {
  readonly events = new Map<string, { event: IncomeEvent; receipts: Receipts }>();
  readonly states = new Map<string, State>();
  readonly documents = new Map<string, Document>();
  readonly links = new Set<string>();
  readonly messages: Message[] = [];
  readonly started = new Set<string>();
  readonly truths = new Map<string, Truth>();
  /** Current data of an endpoint, by document name. */
  readonly contents = new Map<string, string>();
  /** Actions between the pages of a scan, in order. */
  readonly meanwhile: (() => void)[] = [];
  lost = 0;
  readonly #stream: Change[] = [];
  readonly #tasks: FetchTask[] = [];
  #isLost: () => boolean;
  #seconds = 0;

  constructor(isLost: () => boolean) {
    this.#isLost = isLost;
  }

  receive(received: IncomeEvent): void {
    const { event, receipts: before } = this.events.get(received.id) ?? {
      event: received,
      receipts: undefined,
    };
    const since = this.#tick();
    const count = (before?.count ?? 0) + 1;
    const receipts = { ...receiptsOf(count), firstAt: before?.firstAt ?? since, since };
    this.events.set(event.id, { event, receipts });
    this.#write({ type: "event", event, receipts, countBefore: count - 1 });
  }

  /** Runs until no work is left. */
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

  /** Like `functions/relay/relay.ts`. */
  relay(change: Change): void {
    for (const consequence of consequencesOf(change, {
      source: "urn:test",
      readByRange: [],
      documentsUrl: "https://reads.example/",
    })) {
      switch (consequence.type) {
        case "applyEvent": {
          const { subject, event, receipts } = consequence;
          this.#reviseState(subject, (known) => applyEvent(known, event, receipts));
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

  /** Stops losing records, and repairs everything in pages of a few items. */
  async repair(period: Period = {}): Promise<void> {
    this.#isLost = () => false;
    await repair(
      {
        pages: this.#pages(),
        records: this.records(),
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

  /** Pages of a few items in key order, as read; the pipeline continues between them. */
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
        change: { type: "state", before: undefined, after } as const,
      })),
      ...[...this.events.values()].map((stored) => ({
        key: eventKey(ownerOf(stored.event), stored.event.id),
        change: { type: "event", ...stored, countBefore: 0 } as const,
      })),
      ...[...this.documents.values()].map((after) => ({
        key: documentKey(after.subject, after),
        change: { type: "document", before: undefined, after } as const,
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
    this.#write({ type: "state", before, after });
  }

  /** Advances time past the clock tolerance between any two steps. In milliseconds since 1970. */
  #tick(): number {
    this.#seconds += 10;
    return Date.UTC(2026, 2, 1, 13, 0, this.#seconds);
  }

  #perform(task: FetchTask): void {
    const at = new Date(this.#tick());
    const { subject } = task;
    switch (task.type) {
      case "startFetch": {
        this.started.add(nameOf(subject));
        const cause = { cause: `start.${task.version}` };
        this.#tasks.push(documentTask(subject, { endpoint: "income" }, at.getTime(), cause));
        return;
      }
      case "fetchState": {
        if (this.states.get(nameOf(subject))?.version !== task.version) return;
        const { connected, deleted } = this.truths.get(subject.id) ?? { connected: false, deleted: false };
        const answer = deleted ? ({ found: false } as const) : ({ found: true, connected } as const);
        try {
          this.#reviseState(subject, (known) => applyProviderAnswer(known, task.version, answer, { at }));
        } catch (error) {
          // Nobody has announced the deletion yet. The real task waits; here the event that announces it
          // causes another call.
          if (failureOf(error).type === "permanent") throw error;
        }
        return;
      }
      case "fetchDocument":
        this.#read(task, at.getTime());
        return;
      case "verifyStart":
    }
  }

  /** Like `functions/fetch/fetch-document.ts`. */
  #read(task: DocumentTask, now: number): void {
    const key = `${nameOf(task.subject)}/${nameOfData(task, "/")}`;
    const before = this.documents.get(key);
    const messageId = task.cause;
    if (isCovered({ messageId, since: task.since }, before, now)) return;
    const content = this.contents.get(key);
    const call = { asOf: asOfOf(before?.asOf, now), by: [messageDigest(messageId)], task };
    const found = content === undefined ? undefined : { digest: content, size: content.length };
    const after = documentAfter(before, call, found);
    this.documents.set(key, after);
    if (after.news) this.#write({ type: "document", before, after });
  }
}

function isBehind(one: Key, other: Key): boolean {
  return one.pk === other.pk ? one.sk > other.sk : one.pk > other.pk;
}
