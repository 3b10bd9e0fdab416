import { createHash } from "node:crypto";
import { identify } from "../../domain/event/envelope.ts";
import type { EventAttributes, IncomeEvent, WebhookKind } from "../../domain/event/events.ts";
import { type Subject, subjectOf } from "../../domain/event/subjects.ts";
import { documentAfter } from "../../domain/fetch/document.ts";
import { documentTask } from "../../domain/fetch/task.ts";
import { consequencesOf } from "../../domain/message/consequences.ts";
import { messageOfErasure } from "../../domain/message/erasure-message.ts";
import { withAttributes } from "../../domain/message/message.ts";
import type { Message } from "../../domain/message/message-schemas.ts";
import { testMessage } from "../../domain/message/test-message.ts";
import {
  afterDocument,
  afterSilence,
  announceUser,
  atDeadline,
  beginConnection,
} from "../../domain/readiness/readiness.ts";
import type { Change } from "../../domain/state/change.ts";
import { type Answer, applyEvent, applyProviderAnswer, type State } from "../../domain/state/state.ts";

const source = "/income-events/production";
const userId = "0d9bdb0e-27cf-4f4a-9c6e-6a1d8f0e7a55";
const accountId = "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10";
const companyAccountId = "e2a1f6d4-3c58-4b7a-8f09-7d5c2b9e6a31";
const datasourceId = "uber";

/** Timestamps of the examples, a minute apart. */
const timestamp = (minute: number) => new Date(Date.UTC(2026, 0, 31, 9, minute));

function received(kind: WebhookKind, facts: EventAttributes, minute: number): IncomeEvent {
  const id = identify(kind, Buffer.from(JSON.stringify(facts)));
  return { ...facts, id, kind, receivedAt: timestamp(minute).toISOString() };
}

/** A subject's messages: each event, and after the last, contradicting one, the provider's answer. */
function eventsOf(kind: WebhookKind, events: readonly EventAttributes[], answer: Answer): readonly Message[] {
  let state: State | undefined;
  const messages: Message[] = [];
  const write = (after: State | undefined) => {
    if (after === undefined) return;
    messages.push(...published({ type: "state", before: state, after }));
    state = after;
  };
  events.forEach((facts, minute) => {
    write(applyEvent(state, received(kind, facts, minute), 1, { asksForUsers: true }));
  });
  write(applyProviderAnswer(state, state?.version ?? 0, answer, { at: timestamp(events.length) }));
  return messages;
}

function dataOf(facts: EventAttributes): readonly Message[] {
  const event = received("endpoints", facts, 10);
  const at = timestamp(10).getTime();
  const receipts = { count: 1, first: "1", last: "1", firstAt: at, since: at };
  const change: Change = { type: "event", event, receipts, countBefore: 0 };
  const data = Buffer.from("the data");
  const found = { digest: createHash("sha256").update(data).digest("hex"), size: data.byteLength };
  const cause = { cause: event.id, correlationId: event.id };
  const task = documentTask(subjectOf(event), { endpoint: "income" }, at, cause);
  const after = documentAfter(undefined, { asOf: timestamp(11).getTime(), by: [], task }, found);
  return [...published(change), ...published({ type: "document", before: undefined, after })];
}

function erasuresOf(subjects: readonly Subject[]): readonly Message[] {
  return subjects.map((subject) => messageOfErasure(subject, timestamp(12).toISOString(), source));
}

/** An operator reverts what only reconciliation had reported. */
function restored(subject: Subject): readonly Message[] {
  const before: State = {
    ...{ subject, version: 6, connected: true, deleted: true, unconfirmed: false, userId, datasourceId },
    ...{ deletionBy: "reconciliation", processed: [], latest: { cause: "again" } },
  };
  const event = received("accounts", { type: "account.restored", accountId, userId }, 13);
  const after = applyEvent(before, { ...event, reconciled: true }, 1);
  return after === undefined ? [] : published({ type: "state", before, after });
}

/** An account that has one of two endpoints at its deadline, and later the other. */
function readiness(subject: Subject): readonly Message[] {
  const [since, deadline] = [timestamp(1).getTime(), timestamp(61).getTime()];
  const settings = { endpoints: ["income", "employment"], deadlineSeconds: 3_600 } as const;
  const event = received("accounts", { type: "account.connected", accountId, userId }, 1);
  const state = applyEvent(undefined, event, 1, { since });
  const read = (endpoint: string, asOf: number) => {
    const task = documentTask(subject, { endpoint }, asOf, { cause: event.id, userId });
    const found = { digest: createHash("sha256").update(endpoint).digest("hex"), size: 8 };
    return documentAfter(undefined, { asOf, by: [], task }, found);
  };
  const documents = [read("income", timestamp(11).getTime())];
  const begun = state && beginConnection(undefined, state, documents, { settings, now: deadline });
  const incomplete = atDeadline(begun, since, { state, documents, failures: {} }, deadline);
  if (typeof incomplete === "string") throw new Error(`scripts/documents/examples.ts: ${incomplete}`);
  const late = timestamp(90).getTime();
  const ready = afterDocument(incomplete, read("employment", late), late);
  const announced = [incomplete, ...(ready === undefined ? [] : [ready])];
  const ofAccount = announced.flatMap((after) => published({ type: "readiness", before: undefined, after }));
  const user = { kind: "user", id: userId } as const;
  const found = { rule: "all", now: late, correlationId: event.id } as const;
  const after = announceUser(undefined, user, announced.slice(-1), found);
  const staleAt = { staleMillis: 1, now: timestamp(60 * 24 * 90).getTime() };
  const stale = afterSilence(incomplete, documents, staleAt);
  return [
    ...ofAccount,
    ...(stale === undefined ? [] : published({ type: "readiness", before: incomplete, after: stale })),
    ...(after === undefined ? [] : published({ type: "userReadiness", before: undefined, after })),
  ];
}

function published(change: Change): readonly Message[] {
  return consequencesOf(change, {
    source,
    readByRange: [],
    documentsUrl: "https://id.lambda-url.eu-central-1.on.aws/",
  }).flatMap((each) => (each.type === "publish" ? [ofUser(each.message)] : []));
}

/** Adds the attributes of its user to a message, as the relay does. */
function ofUser(message: Message): Message {
  const since = timestamp(0).getTime();
  const isOfState = message.type.startsWith("user.") && message.type !== "user.ready";
  return "userId" in message.data && !isOfState
    ? withAttributes(message, { attributes: { values: attributes, version: 1, since } })
    : message;
}

const attributes = { loanId: "L-1001" };
/** An event with its own id contradicts nothing. */
const eventId = "4d8a6f0c";

/** An account from its creation to its deletion. */
function connectionsOf(
  kind: "accounts" | "company-accounts",
  name: "account" | "company-account",
  ids: Omit<EventAttributes, "type">,
): readonly Message[] {
  const events = [
    { type: `${name}.created`, ...ids, connected: false },
    { type: `${name}.connected`, ...ids },
    { type: `${name}.updated`, ...ids, connected: true },
    { type: `${name}.disconnected`, ...ids },
  ] as const;
  return [
    ...eventsOf(kind, events, { found: true, connected: false }),
    ...eventsOf(kind, [{ type: `${name}.deleted`, ...ids, eventId }], { found: false }),
  ];
}

/** One message of each type, as the pipeline creates it. */
export const examples: readonly Message[] = [
  ...eventsOf(
    "users",
    [
      { type: "user.created", userId, attributes },
      { type: "user.updated", userId, attributes },
      { type: "user.deleted", userId, eventId },
    ],
    { found: false },
  ),
  ...eventsOf(
    "users",
    [
      { type: "user.updated", userId, attributes: { loanId: "L-1000" } },
      { type: "user.updated", userId, attributes },
    ],
    { found: true, attributes },
  ),
  ...connectionsOf("accounts", "account", { accountId, userId, datasourceId }),
  ...restored({ kind: "account", id: accountId }),
  ...connectionsOf("company-accounts", "company-account", { companyAccountId, datasourceId }),
  ...dataOf({
    type: "endpoint.updated",
    accountId,
    userId,
    endpoint: "income",
    dataAvailable: true,
    dateStart: "2026-01-01",
    dateEnd: "2026-01-31",
  }),
  ...readiness({ kind: "account", id: accountId }),
  testMessage("0f3b6a52-8d1c-4e27-9a64-51c7b8e2d940", "everything", source, timestamp(12)),
  ...erasuresOf([
    { kind: "user", id: userId },
    { kind: "account", id: accountId },
    { kind: "company-account", id: companyAccountId },
  ]),
];

/** @throws if the examples above have no message of the type */
export function exampleOf(type: Message["type"]): Message {
  const example = examples.find((message) => message.type === type);
  if (example === undefined) throw new Error(`scripts/documents/examples.ts: add one of ${type}`);
  return example;
}
