import fc from "fast-check";
import { present } from "../../../domain/core/parse.ts";
import {
  type EventAttributes,
  type EventType,
  eventTypes,
  type IncomeEvent,
  subjectKindOf,
} from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import { nameOf, type Subject, subjectOf } from "../../../domain/event/subjects.ts";
import {
  type DocumentRecord,
  fetched,
  requestFetch,
  requestFetchFor,
} from "../../../domain/fetch/document.ts";
import { type DataName, nameOfData, rangeOf } from "../../../domain/fetch/document-name.ts";
import { consequencesOf } from "../../../domain/message/consequences.ts";
import { messageOfErasure } from "../../../domain/message/message.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import { testMessage } from "../../../domain/message/test-message.ts";
import type { Change } from "../../../domain/state/change.ts";
import { type Answer, applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { minute } from "../samples.ts";

const source = "/income-events/test";

type Receipt = { readonly facts: EventAttributes; readonly receipts: number; readonly isReconciled: boolean };

/** An event is received, the provider answers what it was asked, all that is requested is fetched, or one is tried. */
type Step =
  | ({ readonly do: "receive" } & Receipt)
  | ({ readonly do: "answer" } & Answer)
  | { readonly do: "fetch"; readonly content: string | undefined }
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
      ...optionalFacts,
    })
    .map((facts) => present<EventAttributes>(facts));
}

const receipt: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("receive" as const),
  // News of data is as frequent as all else: only what is requested again can be found gone.
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
  content: maybe(fc.constantFrom("one", "two")),
});
const step = fc.oneof(
  { weight: 4, arbitrary: receipt },
  { weight: 1, arbitrary: answer },
  { weight: 2, arbitrary: fetch },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("test" as const), id: fc.uuid() }) },
);

/** The messages that the domain produces for whatever happens to a few users and accounts, in their order. */
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
  readonly #dataSets = new Map<string, DocumentRecord>();

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
        for (const before of this.#dataSets.values())
          this.#writeDataSet(
            before,
            fetched(before, before.wanted, step.content, { at: new Date(minute(9)) }),
          );
        return;
      case "test":
        this.messages.push(testMessage(step.id, "some", source, new Date(this.messages.length)));
    }
  }

  /** Everyone, for good. */
  erase(): void {
    for (const { subject } of this.#states.values())
      this.messages.push(messageOfErasure(subject, minute(10), source));
  }

  #receive({ facts, receipts, isReconciled }: Receipt): void {
    const id = identify("users", Buffer.from(JSON.stringify([facts, isReconciled])));
    const more = isReconciled ? { reconciled: true as const } : {};
    const event: IncomeEvent = { ...facts, id, kind: "users", receivedAt: minute(7), ...more };
    const subject = subjectOf(event);
    const { endpoint } = event;
    if (endpoint === undefined) {
      const before = this.#states.get(nameOf(subject));
      this.#writeState(before, applyEvent(before, event, receipts));
      return;
    }
    const name = present<DataName>({
      endpoint,
      range: subject.kind === "account" ? rangeOf(event) : undefined,
    });
    const before = this.#dataSets.get(keyOf(subject, name));
    const after = isReconciled
      ? requestFetchFor(before, subject, name, { key: id })
      : requestFetch(before, subject, name, { event, receipts });
    this.#writeDataSet(before, after);
  }

  #writeState(before: State | undefined, after: State | undefined): void {
    if (after === undefined) return;
    this.#states.set(nameOf(after.subject), after);
    this.#publish({ of: "state", before, after });
  }

  #writeDataSet(before: DocumentRecord | undefined, after: DocumentRecord | undefined): void {
    if (after === undefined) return;
    this.#dataSets.set(keyOf(after.subject, after), after);
    this.#publish({ of: "data", before, after });
  }

  #publish(change: Change): void {
    for (const consequence of consequencesOf(change, source))
      if (consequence.do === "publish") this.messages.push(consequence.message);
  }
}

function keyOf(subject: Subject, name: DataName): string {
  return `${nameOf(subject)} ${nameOfData(name, "/")}`;
}

/** What the provider's answer leads to; nothing while it knows nobody and no event announced a deletion. */
function answered(state: State, answer: Answer): State | undefined {
  return answer.found || state.deletionTold === true
    ? applyProviderAnswer(state, state.version, answer, { at: new Date(minute(8)) })
    : undefined;
}
