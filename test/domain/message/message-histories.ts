import fc from "fast-check";
import { present } from "../../../domain/core/parse.ts";
import { identify } from "../../../domain/event/envelope.ts";
import {
  type EventAttributes,
  type EventType,
  eventTypes,
  type IncomeEvent,
  subjectKindOf,
} from "../../../domain/event/events.ts";
import { nameOf, subjectOf } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import { type DocumentTask, groupOf } from "../../../domain/fetch/task.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { messageOfErasure } from "../../../domain/message/erasure-message.ts";
import { withAttributes } from "../../../domain/message/message.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import {
  afterDocument,
  afterSilence,
  afterState,
  announceUser,
  atDeadline,
  beginConnection,
  beginsConnection,
} from "../../../domain/readiness/readiness.ts";
import type { AccountReadiness, UserReadiness } from "../../../domain/readiness/stored-readiness.ts";
import type { Change } from "../../../domain/state/change.ts";
import { type Answer, applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { documentRead, eventChange, minute } from "../samples.ts";

const settings = {
  source: "/income-events/test",
  readByRange: ["account/income"],
  documentsUrl: "https://reads.example/",
  readiness: { endpoints: ["income"], deadlineSeconds: 60 },
};
const { source } = settings;

type Receipt = { readonly facts: EventAttributes; readonly receipts: number; readonly isReconciled: boolean };

/** An event is received, the provider answers, all announced documents are read, or one is tried. */
type Step =
  | ({ readonly do: "receive" } & Receipt)
  | ({ readonly do: "answer" } & Answer)
  | { readonly do: "fetch"; readonly digest: string | undefined }
  /** The deadlines of all waiting accounts. */
  | { readonly do: "endWaits" }
  | { readonly do: "test"; readonly id: string };

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const ids = fc.constantFrom("a", "b");
const optionalFacts = {
  time: maybe(fc.nat(5).map(minute)),
  datasourceId: maybe(fc.constantFrom("uber", "lyft")),
  connected: maybe(fc.boolean()),
  dataAvailable: maybe(fc.boolean()),
  dateStart: maybe(fc.constantFrom("2026-01-01", "first of May")),
  dateEnd: maybe(fc.constant("2026-01-31")),
};

function factsOf(type: EventType): fc.Arbitrary<EventAttributes> {
  const kind = subjectKindOf(type);
  const named = (isNamed: boolean) => (isNamed ? ids : maybe(ids));
  return fc
    .record({
      type: fc.constant(type),
      userId: named(kind === "user"),
      accountId: named(kind === "account"),
      companyAccountId: named(kind === "company-account" || kind === "endpoint"),
      endpoint: kind === "endpoint" ? fc.constant("income") : fc.constant(undefined),
      attributes: fc.constantFrom(undefined, ...(kind === "user" ? [undefined, {}, { loanId: "L-1" }] : [])),
      reason: kind.endsWith("account") ? maybe(fc.constant("LOCKED")) : fc.constant(undefined),
      ...optionalFacts,
    })
    .map((facts) => present<EventAttributes>(facts));
}

const receipt: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("receive" as const),
  // Data announcements are as frequent as everything else: only data that is read again can disappear.
  facts: fc.oneof(fc.constantFrom(...eventTypes), fc.constant("endpoint.updated" as const)).chain(factsOf),
  receipts: fc.constantFrom(1, 1, 1, 2),
  isReconciled: fc.boolean(),
});
const answer: fc.Arbitrary<Step> = fc.oneof(
  fc.constant({ do: "answer", found: false } as const),
  maybe(fc.boolean()).map((connected) => ({ do: "answer", found: true, ...present({ connected }) }) as const),
);
const fetch: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("fetch" as const),
  digest: maybe(fc.constantFrom("1".repeat(64), "2".repeat(64))),
});
const step = fc.oneof(
  { weight: 6, arbitrary: receipt },
  { weight: 1, arbitrary: answer },
  { weight: 2, arbitrary: fetch },
  { weight: 1, arbitrary: fc.constant({ do: "endWaits" } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("test" as const), id: fc.uuid() }) },
);

/** Messages of the domain for any history of a few users and accounts, in order. */
export const messageHistories: fc.Arbitrary<readonly Message[]> = fc
  .tuple(fc.array(step, { minLength: 1, maxLength: 25 }), fc.boolean())
  .map(([steps, endsInErasure]) => {
    const history = new MessageHistory();
    for (const each of steps) history.take(each);
    if (endsInErasure) history.erase();
    return history.messages;
  });

class MessageHistory {
  readonly messages: Message[] = [];
  readonly #states = new Map<string, State>();
  readonly #documents = new Map<string, Document>();
  readonly #readiness = new Map<string, AccountReadiness>();
  readonly #users = new Map<string, UserReadiness>();
  readonly #tasks = new Map<string, DocumentTask>();
  readonly #receivedAt = new Map<string, number>();
  #reads = 0;

  take(step: Step): void {
    switch (step.do) {
      case "receive":
        this.#receive(step);
        return;
      case "answer":
        for (const before of this.#states.values()) {
          if (before.unconfirmed) this.#writeState(before, answered(before, step));
        }
        return;
      case "fetch":
        for (const [key, task] of this.#tasks) this.#read(key, task, step.digest);
        return;
      case "endWaits":
        for (const readiness of this.#readiness.values()) this.#endWait(readiness);
        return;
      case "test":
        this.messages.push(testMessage(step.id, "some", source, new Date(this.messages.length)));
    }
  }

  /** Erases everyone for good. */
  erase(): void {
    for (const { subject } of this.#states.values())
      this.messages.push(messageOfErasure(subject, minute(10), source));
  }

  #receive({ facts, receipts, isReconciled }: Receipt): void {
    const id = identify("users", Buffer.from(JSON.stringify([facts, isReconciled])));
    const more = isReconciled ? { reconciled: true as const } : {};
    const event: IncomeEvent = { ...facts, id, kind: "users", receivedAt: minute(7), ...more };
    if (event.endpoint !== undefined) {
      const change = eventChange(event, receipts);
      this.#relay({ ...change, receipts: { ...change.receipts, firstAt: this.#firstAt(id) } });
      return;
    }
    const before = this.#states.get(nameOf(subjectOf(event)));
    const options = { since: this.#reads * 10_000, givesReasons: true };
    this.#writeState(before, applyEvent(before, event, receipts, options));
  }

  #endWait(before: AccountReadiness): void {
    const { subject, since } = before;
    const state = this.#states.get(nameOf(subject));
    const after = atDeadline(before, since, { state, documents: [], failures: {} }, this.#now);
    if (typeof after === "object") this.#writeReadiness(after);
    else {
      const documents = [...this.#documents.values()].filter(
        (each) => nameOf(each.subject) === nameOf(subject),
      );
      this.#writeReadiness(afterSilence(before, documents, { staleMillis: 1, now: this.#now + 1 }));
    }
  }

  get #now(): number {
    return this.#reads * 10_000;
  }

  #follow(change: Extract<Change, { type: "state" | "document" }>): void {
    const known = this.#readiness.get(nameOf(change.after.subject));
    const documents = [...this.#documents.values()];
    const at = { settings: settings.readiness, now: this.#now };
    if (change.type === "document") this.#writeReadiness(known && afterDocument(known, change.after, at.now));
    else if (beginsConnection(known, change.after))
      this.#writeReadiness(beginConnection(known, change.after, documents, at));
    else this.#writeReadiness(known && afterState(known, change.after));
  }

  #writeReadiness(after: AccountReadiness | undefined): void {
    if (after === undefined) return;
    const name = nameOf(after.subject);
    const before = this.#readiness.get(name);
    this.#readiness.set(name, after);
    this.#relay({ type: "readiness", before, after });
  }

  #followAccounts(userId: string): void {
    const accounts = [...this.#readiness.values()].filter((account) => account.userId === userId);
    const before = this.#users.get(userId);
    const found = { rule: "all", now: this.#now, correlationId: undefined } as const;
    const after = announceUser(before, { kind: "user", id: userId }, accounts, found);
    if (after === undefined) return;
    this.#users.set(userId, after);
    this.#relay({ type: "userReadiness", before, after });
  }

  /**
   * SQS never accepts two messages in the same millisecond: of two endpoint events with one time, neither is
   * newer.
   */
  #firstAt(eventId: string): number {
    const firstAt = this.#receivedAt.get(eventId) ?? this.#receivedAt.size + 1;
    this.#receivedAt.set(eventId, firstAt);
    return firstAt;
  }

  #writeState(before: State | undefined, after: State | undefined): void {
    if (after === undefined) return;
    this.#states.set(nameOf(after.subject), after);
    this.#relay({ type: "state", before, after });
  }

  #read(
    key: string,
    { subject, correlationId, userId, ...name }: DocumentTask,
    digest: string | undefined,
  ): void {
    const before = this.#documents.get(key);
    this.#reads += 1;
    const call = { asOf: this.#now, subject, name, ...present({ correlationId, userId }) };
    const after = documentRead(before, digest, call);
    this.#documents.set(key, after);
    this.#relay({ type: "document", before, after });
  }

  /**
   * Adds attributes to messages about accounts and their data, as the relay does. Only one user's are known.
   */
  #ofUser(message: Message): Message {
    const isOwn = message.type.startsWith("user.") && message.type !== "user.ready";
    return !isOwn && "userId" in message.data && message.data.userId === "a"
      ? withAttributes(message, { attributes: { values: { loanId: "L-1" }, version: 1, since: 1 } })
      : message;
  }

  #relay(change: Change): void {
    for (const consequence of consequencesOf(change, settings)) {
      if (consequence.type === "publish") this.messages.push(this.#ofUser(consequence.message));
      else if (consequence.type === "followReadiness") this.#follow(consequence.change);
      else if (consequence.type === "followAccounts") this.#followAccounts(consequence.userId);
      else if (consequence.type === "call" && consequence.task.type === "fetchDocument")
        this.#tasks.set(groupOf(consequence.task), consequence.task);
    }
  }
}

/**
 * The state after the provider's answer; undefined while the provider knows nobody and no event announced a
 * deletion.
 */
function answered(state: State, answer: Answer): State | undefined {
  return answer.found || state.deletionBy !== undefined
    ? applyProviderAnswer(state, state.version, answer, { at: new Date(minute(8)) })
    : undefined;
}
