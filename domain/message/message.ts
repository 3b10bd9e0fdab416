import { permanent } from "../core/failures.ts";
import { fieldsOf, present, textOf } from "../core/parse.ts";
import type { IncomeEvent, LastChange } from "../event/events.ts";
import type { Receipts } from "../event/receipts.ts";
import { nameOf, type Subject, subjectOf } from "../event/subjects.ts";
import { type DataName, type Document, nameOfData, rangeOf } from "../fetch/document.ts";
import type { AccountReadiness, UserReadiness } from "../readiness/stored-readiness.ts";
import type { State } from "../state/state.ts";
import { datesOf, hrefOfDocument, referenceOf } from "./document-reference.ts";
import type { DataOf, Message } from "./message-schemas.ts";

/**
 * The tag of a subscriber's two queues; its value is the pipeline's name. A production stage retains the
 * queues of removed subscribers, and only the tag shows their owner.
 */
export const subscriberTag = "income-events:subscriber-of";

/** A subscriber. `types` holds exact message types, or prefixes that end in `*`; absent: all messages. */
export type Subscriber = {
  readonly name: string;
  readonly types?: readonly string[];
  /** Whether messages contain the documents that they report, if these fit; absent: only references. */
  readonly documents?: "inline";
};

export function wants(subscriber: Subscriber, type: string): boolean {
  const { types } = subscriber;
  return types === undefined || types.some((pattern) => matches(pattern, type));
}

function matches(pattern: string, type: string): boolean {
  return pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/** @throws permanent failure naming the setting */
export function parseSubscribers(value: unknown): readonly Subscriber[] {
  if (!Array.isArray(value)) throw permanent("subscribers: expected a list");
  return value.map((entry: unknown) => {
    const fields = fieldsOf(entry, "subscribers");
    const name = textOf(fields, "name");
    const { types } = fields;
    return {
      name,
      ...(Array.isArray(types) && { types: types.map(String) }),
      ...(fields.documents === "inline" && { documents: fields.documents }),
    };
  });
}

/** The stage that sends messages, and the base URL of its documents with a trailing slash. */
export type MessageOrigin = { readonly source: string; readonly documentsUrl: string };

/** The message of a state's current version; undefined if that version has none. */
export function messageOfState(state: State, source: string): Message | undefined {
  const { latest, subject } = state;
  const common = { source, subject: nameOf(subject), version: state.version };
  switch (latest.cause) {
    case "again":
      return undefined;
    case "event": {
      const { id } = latest.event;
      return ofEvent(state, latest, attributesOf(common, id, timeOf(latest.event), id));
    }
    case "answer": {
      const id = `${common.subject}.${state.version}`;
      return ofAnswer(state, attributesOf(common, id, latest.at, latest.correlationId));
    }
  }
}

function ofEvent(
  { subject: { id }, ...state }: State,
  { event, outcome }: Extract<LastChange, { cause: "event" }>,
  attributes: Attributes,
): Message {
  const { type, reconciled } = event;
  const facts = { deleted: state.deleted, unconfirmed: state.unconfirmed, outcome, reconciled };
  const account = {
    ...{ userId: state.userId, datasourceId: state.datasourceId, connected: state.connected },
    ...connectionFields(state),
  };
  switch (type) {
    case "user.created":
    case "user.updated":
    case "user.deleted": {
      const data = present<DataOf<typeof type>>({ userId: id, ...attributeFields(state), ...facts });
      return { ...attributes, type, data };
    }
    case "account.created":
    case "account.updated":
    case "account.connected":
    case "account.disconnected":
    case "account.deleted":
    case "account.restored": {
      const data = present<DataOf<typeof type>>({ accountId: id, ...account, ...facts });
      return { ...attributes, type, data };
    }
    case "company-account.created":
    case "company-account.updated":
    case "company-account.connected":
    case "company-account.disconnected":
    case "company-account.deleted": {
      const data = present<DataOf<typeof type>>({ companyAccountId: id, ...account, ...facts });
      return { ...attributes, type, data };
    }
    case "endpoint.updated":
      throw permanent("event.type: no endpoint event announces a state");
  }
}

/**
 * The full state of a subject, in the form of its `confirmed` message.
 * @param user the account's user, to include that user's attributes
 */
export function reportOfState(state: State, user?: State): Pick<Message, "subject" | "sequence" | "data"> {
  const common = { source: "", subject: nameOf(state.subject), version: state.version };
  const own = ofAnswer(state, attributesOf(common, "", "", undefined));
  const { subject, sequence, data } = user === undefined ? own : withAttributes(own, user);
  return { subject, sequence, data };
}

function ofAnswer(state: State, attributes: Attributes): Message {
  const { subject, deleted, unconfirmed, userId, datasourceId, connected } = state;
  const account = { userId, datasourceId, connected, ...connectionFields(state), deleted, unconfirmed };
  switch (subject.kind) {
    case "user":
      return {
        ...attributes,
        type: "user.confirmed",
        data: { userId: subject.id, deleted, unconfirmed, ...attributeFields(state) },
      };
    case "account": {
      const data = present<DataOf<"account.confirmed">>({ accountId: subject.id, ...account });
      return { ...attributes, type: "account.confirmed", data };
    }
    case "company-account": {
      const data = present<DataOf<"company-account.confirmed">>({ companyAccountId: subject.id, ...account });
      return { ...attributes, type: "company-account.confirmed", data };
    }
  }
}

function connectionFields({ connection: { since, reason } = {} }: Pick<State, "connection">) {
  return present<{ since: string; reason: string }>({
    since: since === undefined ? undefined : new Date(since).toISOString(),
    reason,
  });
}

/** Adds the user's stored attributes to a message about that user's account or data. */
export function withAttributes<M extends Message>(message: M, user: Pick<State, "attributes">): M {
  return { ...message, data: { ...message.data, ...attributeFields(user) } };
}

function attributeFields({ attributes }: Pick<State, "attributes">) {
  if (attributes === undefined) return {};
  return { attributes: attributes.values, attributesSequence: sequenceOf(attributes.version) };
}

/** Announces news of an endpoint, once per event, in the order in which the events were first received. */
export function messageOfEndpointEvent(
  event: IncomeEvent,
  { firstAt }: Pick<Receipts, "firstAt">,
  source: string,
): Message {
  const { id, userId, dataAvailable, endpoint } = event;
  if (endpoint === undefined) throw permanent("event.endpoint: missing");
  const subject = subjectOf(event);
  const range = rangeOf(event);
  const name = present<DataName>({ endpoint, range });
  const common = { source, subject: subjectOfDocument(subject, name), version: firstAt };
  const data = present<DataOf<"endpoint.updated">>({
    ...accountIdOf(subject),
    endpoint,
    ...datesOf(range),
    userId,
    dataAvailable,
    outcome: "applied",
  });
  return { ...attributesOf(common, id, timeOf(event), id), type: "endpoint.updated", data };
}

/**
 * Announces that a document's data changed. Returns the same message until the data changes again.
 * @throws permanent failure if no call ever found data
 */
export function messageOfDocument(document: Document, { source, documentsUrl }: MessageOrigin): Message {
  const { subject, endpoint, range, userId, announced, correlationId } = document;
  if (announced === undefined) throw permanent("announced: missing");
  const common = { source, subject: subjectOfDocument(subject, document), version: announced };
  const id = `${common.subject}.${announced}`;
  const attributes = attributesOf(common, id, new Date(announced).toISOString(), correlationId);
  const data = present<DataOf<"data.updated">>({
    ...accountIdOf(subject),
    endpoint,
    ...datesOf(range),
    userId,
    document: referenceOf(document, documentsUrl),
  });
  return { ...attributes, type: "data.updated", data };
}

function subjectOfDocument(subject: Subject, name: DataName): string {
  return `${nameOf(subject)}/${nameOfData(name, "/")}`;
}

function timeOf({ time, receivedAt }: IncomeEvent): string {
  return time ?? receivedAt;
}

type Attributes = Omit<Message, "type" | "data">;

export function attributesOf(
  {
    source,
    subject,
    version,
  }: { readonly source: string; readonly subject: string; readonly version: number },
  id: string,
  time: string,
  correlationId: string | undefined,
): Attributes {
  return {
    specversion: "1.0",
    id,
    source,
    subject,
    time,
    datacontenttype: "application/json",
    sequence: sequenceOf(version),
    ...present({ correlationid: correlationId }),
  };
}

/** Twenty digits, so that sequences compare as text (CloudEvents' `sequence` extension). */
function sequenceOf(version: number): string {
  return String(version).padStart(20, "0");
}

function accountIdOf({
  kind,
  id,
}: Subject): { readonly accountId: string } | { readonly companyAccountId: string } {
  switch (kind) {
    case "account":
      return { accountId: id };
    case "company-account":
      return { companyAccountId: id };
    case "user":
      throw permanent("subject.kind: data is of an account");
  }
}

/**
 * The message of an account's last announcement. Returns the same message until the next announcement.
 * @throws permanent failure if nothing was announced
 */
export function messageOfReadiness(
  { subject, announced, userId, correlationId }: AccountReadiness,
  { source, documentsUrl }: MessageOrigin,
): Message {
  if (announced === undefined) throw permanent("announced: missing");
  const { version, since, at, missing } = announced;
  const common = { source, subject: `${nameOf(subject)}/readiness`, version };
  const time = new Date(at).toISOString();
  const attributes = attributesOf(common, `${common.subject}.${version}`, time, correlationId);
  const documents = announced.documents.map(({ endpoint, digest, announced: number }) => {
    const href = `${hrefOfDocument(subject, { endpoint }, documentsUrl)}?version=${number}`;
    return { endpoint, href, version: String(number), sha256: digest };
  });
  const data = present<DataOf<"account.ready">>({
    accountId: subject.id,
    userId,
    connectedSince: new Date(since).toISOString(),
    documents,
  });
  return announced.status === "ready"
    ? { ...attributes, type: "account.ready", data }
    : { ...attributes, type: "account.incomplete", data: { ...data, missing } };
}

/** The message of an account without new data. @throws permanent failure if nothing was announced */
export function messageOfStale(
  { subject, stale, since, userId, correlationId }: AccountReadiness,
  source: string,
): Message {
  if (stale === undefined) throw permanent("stale: missing");
  const common = { source, subject: `${nameOf(subject)}/readiness`, version: stale.version };
  const time = new Date(stale.at).toISOString();
  return {
    ...attributesOf(common, `${common.subject}.${stale.version}`, time, correlationId),
    type: "account.stale",
    data: present<DataOf<"account.stale">>({
      accountId: subject.id,
      userId,
      connectedSince: new Date(since).toISOString(),
      newestAt: stale.since > since ? new Date(stale.since).toISOString() : undefined,
    }),
  };
}

/** The message of an announcement about a user's accounts. */
export function messageOfUserReadiness(
  { subject, version, at, accounts, correlationId }: UserReadiness,
  source: string,
): Message {
  const common = { source, subject: `${nameOf(subject)}/readiness`, version };
  const time = new Date(at).toISOString();
  return {
    ...attributesOf(common, `${common.subject}.${version}`, time, correlationId),
    type: "user.ready",
    data: {
      userId: subject.id,
      accounts: accounts.map(({ accountId, status, since }) => {
        return { accountId, status, connectedSince: new Date(since).toISOString() };
      }),
    },
  };
}
