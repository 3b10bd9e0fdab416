import { describe, expect, it } from "vitest";
import {
  addressedTo,
  nameFields,
  referenceOf,
  withContent,
} from "../../../domain/message/document-reference.ts";
import { messageOfErasure } from "../../../domain/message/erasure-message.ts";
import {
  messageOfDocument,
  messageOfEndpointEvent,
  messageOfReadiness,
  messageOfStale,
  messageOfState,
  reportOfState,
  wants,
} from "../../../domain/message/message.ts";
import type { Message } from "../../../domain/message/message-schemas.ts";
import type { AccountReadiness } from "../../../domain/readiness/stored-readiness.ts";
import { applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { accountId, applied, at, documentRead, eventOf, minute, receiptsOf, userId } from "../samples.ts";

const source = "https://example.com/income";
const connected = eventOf("account.connected", { userId, datasourceId: "uber" });
const disconnected = eventOf("account.disconnected", { time: minute(7) });
const updated = eventOf("endpoint.updated", { endpoint: "income", userId, dataAvailable: true });

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("expected a value");
  return value;
}

const origin = { source, documentsUrl: "https://reads.example/" };
const asOf = at.getTime();
const read = documentRead(undefined, "digest", { asOf });
const waiting = applied([connected, disconnected]);
const answered = present(applyProviderAnswer(waiting, 2, { found: true, connected: false }, { at }));
const gone = present(
  applyProviderAnswer(applied([connected, eventOf("account.deleted")]), 2, { found: false }, { at }),
);

const messages: Message[] = [
  present(messageOfState(applied([connected]), source)),
  present(messageOfState(waiting, source)),
  present(messageOfState(answered, source)),
  present(messageOfState(gone, source)),
  messageOfEndpointEvent(updated, receiptsOf(), source),
  messageOfDocument(read, origin),
];

const dates = { dateStart: "2026-01-01", dateEnd: "2026-01-31" };

describe("a message", () => {
  it("says whether reconciliation found its event", () => {
    const found = applied([{ ...connected, reconciled: true }]);
    expect(messageOfState(found, source)?.data).toMatchObject({ reconciled: true, connected: true });
    for (const { data } of messages) expect(data).not.toHaveProperty("reconciled");
  });

  it("about an event has the event's id and type, and its time if it has one", () => {
    expect(messages[0]).toMatchObject({
      id: connected.id,
      type: "account.connected",
      subject: `account/${accountId}`,
      time: connected.receivedAt,
      data: {
        accountId,
        userId,
        datasourceId: "uber",
        connected: true,
        deleted: false,
        unconfirmed: false,
        outcome: "applied",
      },
    });
    expect(messages[1]).toMatchObject({
      id: disconnected.id,
      time: minute(7),
      data: { outcome: "unconfirmed" },
    });
  });

  it("about an answer has an id with the state's version, and contains the confirmed state", () => {
    expect(messages[2]).toMatchObject({
      id: `account/${accountId}.3`,
      type: "account.confirmed",
      time: at.toISOString(),
      data: { accountId, userId, connected: false, deleted: false, unconfirmed: false },
    });
    expect(messages[2]?.data).not.toHaveProperty("outcome");
    expect(messages[3]?.data).toMatchObject({ deleted: true });
  });

  it("about a document names its endpoint: first for the event, then for the data", () => {
    const subject = `account/${accountId}/income`;
    expect(messages[4]).toMatchObject({
      id: updated.id,
      type: "endpoint.updated",
      subject,
      data: { accountId, userId, endpoint: "income", dataAvailable: true, outcome: "applied" },
    });
    expect(messages[5]).toMatchObject({
      id: `${subject}.${asOf}`,
      type: "data.updated",
      subject,
      time: at.toISOString(),
      data: {
        accountId,
        endpoint: "income",
        document: {
          href: `https://reads.example/v1/accounts/${accountId}/documents/income?version=${asOf}`,
          sha256: "digest",
          size: 2,
          contentType: "application/json",
          version: String(asOf),
          observedAt: at.toISOString(),
        },
      },
    });
    const none = documentRead(read, undefined, { asOf: asOf + 1 });
    expect(messageOfDocument(none, origin).data).toEqual({ accountId, endpoint: "income" });
  });

  it("about an endpoint's event has the sequence of its first receipt, however often it was received", () => {
    const sequenceOf = (count: number) => messageOfEndpointEvent(updated, receiptsOf(count), source).sequence;
    expect(sequenceOf(1)).toBe("00000000000000000001");
    expect(sequenceOf(5)).toBe(sequenceOf(1));
  });

  it("about data keeps the id and sequence of the call that changed the data, until the data changes again", () => {
    const same = documentRead(read, "digest", { asOf: asOf + 5 });
    expect(messageOfDocument(same, origin)).toEqual(messageOfDocument(read, origin));
    const other = messageOfDocument(documentRead(same, "other", { asOf: asOf + 9 }), origin);
    expect(other.id).not.toBe(messageOfDocument(read, origin).id);
    expect(other.sequence > messageOfDocument(read, origin).sequence).toBe(true);
  });

  it("about data is refused if no call ever found data", () => {
    const none = documentRead(undefined, undefined, { asOf });
    expect(() => messageOfDocument(none, origin)).toThrow("announced: missing");
  });

  it("about an event with dates contains them, and has its own subject for each range", () => {
    const message = messageOfEndpointEvent({ ...updated, ...dates }, receiptsOf(), source);
    expect(message).toMatchObject({
      subject: `account/${accountId}/income/2026-01-01..2026-01-31`,
      data: { ...dates, endpoint: "income" },
    });
  });

  it("about data of a range of dates names its user and has its own subject, so that sequences compare", () => {
    const range = { start: dates.dateStart, end: dates.dateEnd };
    const subject = `account/${accountId}/income/2026-01-01..2026-01-31`;
    const name = { endpoint: "income", range };
    const ranged = documentRead(undefined, "digest", { asOf, userId, name });
    expect(messageOfDocument(ranged, origin)).toMatchObject({
      id: `${subject}.${asOf}`,
      subject,
      data: {
        accountId,
        userId,
        endpoint: "income",
        ...dates,
        document: {
          range,
          href: `https://reads.example/v1/accounts/${accountId}/documents/income/2026-01-01..2026-01-31?version=${asOf}`,
        },
      },
    });
  });

  it("about users and company accounts names them by their own ids", () => {
    const user = applied([eventOf("user.created", { userId, kind: "users" })]);
    expect(messageOfState(user, source)).toMatchObject({ subject: `user/${userId}`, data: { userId } });
    const company = applied([eventOf("company-account.deleted", { companyAccountId: "c-1" })]);
    expect(messageOfState(company, source)).toMatchObject({
      subject: "company-account/c-1",
      data: { companyAccountId: "c-1", unconfirmed: true },
    });
    const confirmed = present(applyProviderAnswer(company, 1, { found: false }, { at }));
    expect(messageOfState(confirmed, source)?.type).toBe("company-account.confirmed");
  });

  it("contains ids and states only: no body, no link, no other field of the event", () => {
    const canary = { link: "canary", session: "canary", body: "canary", name: "canary", dateStart: "canary" };
    const states = [applied([{ ...connected, ...canary }]), applied([{ ...disconnected, ...canary }])];
    const event = messageOfEndpointEvent({ ...updated, ...canary }, receiptsOf(), source);
    const texts = [...states.map((state) => messageOfState(state, source)), event];
    expect(JSON.stringify(texts)).not.toContain("canary");
  });

  it("has a sequence that compares as text like versions compare as numbers", () => {
    const versions = [1, 2, 9, 10, 99, 100, 1_000_000, Number.MAX_SAFE_INTEGER];
    const sequences = versions.map((version) => messageOfState({ ...waiting, version }, source)?.sequence);
    expect(new Set(sequences).size).toBe(versions.length);
    expect([...sequences].sort()).toEqual(sequences);
  });
});

describe("a subscriber", () => {
  it("without types gets every message, with an empty list none", () => {
    for (const { type } of messages) {
      expect(wants({ name: "all" }, type)).toBe(true);
      expect(wants({ name: "none", types: [] }, type)).toBe(false);
    }
  });

  it("gets exact types, and types that match a prefix with a star", () => {
    const wanting =
      (...types: string[]) =>
      (type: string) =>
        wants({ name: "some", types }, type);
    expect(wanting("account.connected")("account.connected")).toBe(true);
    expect(wanting("account.connected")("account.disconnected")).toBe(false);
    expect(wanting("account.connected")("account.connected.more")).toBe(false);
    expect(wanting("account.*")("account.deleted")).toBe(true);
    expect(wanting("account.*")("company-account.deleted")).toBe(false);
    expect(wanting("*")("data.updated")).toBe(true);
    expect(wanting("user.*", "data.updated")("data.updated")).toBe(true);
    expect(wanting("account.c.*")("account.connected")).toBe(false);
    expect(wanting("*.deleted")("account.deleted")).toBe(false);
  });
});

describe("a message to one subscriber", () => {
  const functionArn = "arn:aws:lambda:eu-central-1:123456789012:function:read";
  const hrefTo = (documentsUrl: string) => {
    const message = addressedTo(messageOfDocument(read, { source, documentsUrl }), "risk");
    return message.type === "data.updated" ? message.data.document?.href : undefined;
  };

  it("names the alias of the function that reads its documents", () => {
    const path = `/v1/accounts/${accountId}/`;
    expect(hrefTo(`${functionArn}/`)).toContain(`${functionArn}:risk${path}`);
    expect(hrefTo("https://reads.example/arn:x/")).toContain(`https://reads.example/arn:x${path}`);
  });

  it("is the same for all if it has no document", () => {
    const none = messageOfDocument(documentRead(read, undefined, { asOf: asOf + 1 }), origin);
    for (const message of [present(messageOfState(applied([connected]), source)), none])
      expect(addressedTo(message, "risk")).toEqual(message);
  });
});

describe("a message with its document", () => {
  const message = messageOfDocument(read, origin);

  it("contains the document's text, every digit of it, and else what it contains without", () => {
    const text = withContent(message, '{"id":12345678901234567890,"name":"\u{1F600}\uFFFE"}') ?? "";
    expect(text).toContain('"content":{"id":12345678901234567890,"name":"\\ud83d\\ude00\\ufffe"}');
    const { data, ...attributes } = JSON.parse(text);
    const { content, ...document } = data.document;
    expect(content.name).toBe("\u{1F600}\uFFFE");
    expect({ ...attributes, data: { ...data, document } }).toEqual(message);
  });

  it("is undefined if it reports none, or the document is not JSON", () => {
    expect(withContent(message, "no JSON")).toBeUndefined();
    expect(withContent(messageOfEndpointEvent(updated, receiptsOf(), source), "{}")).toBeUndefined();
    const none = documentRead(read, undefined, { asOf: asOf + 1 });
    expect(withContent(messageOfDocument(none, origin), "{}")).toBeUndefined();
  });
});

it.each(["digest", "announced", "size"] as const)("data without its %s is not referred to", (field) => {
  const { [field]: _, ...document } = read;
  expect(referenceOf(document, origin.documentsUrl)).toBeUndefined();
});

it("a document's name in messages has its dates only if it is of a range", () => {
  expect(nameFields({ endpoint: "income" })).toEqual({ endpoint: "income" });
  const range = { start: dates.dateStart, end: dates.dateEnd };
  expect(nameFields({ endpoint: "income", range })).toEqual({ endpoint: "income", ...dates });
});

describe("a report of a state", () => {
  it("is that of its confirmation, with its version as the sequence", () => {
    const { subject, sequence, data } = present(messageOfState(answered, source));
    expect(reportOfState(answered)).toEqual({ subject, sequence, data });
  });

  it("of an account has its user's attributes", () => {
    const event = eventOf("user.created", { userId, kind: "users", attributes: { loanId: "L-1" } });
    const user = applied([event]);
    const attributes = { attributes: { loanId: "L-1" }, attributesSequence: "00000000000000000001" };
    expect(reportOfState(answered, user).data).toMatchObject({ accountId, ...attributes });
    expect(reportOfState(user).data).toMatchObject({ userId, ...attributes });
  });
});

it.each([
  ["user", "user.erased", { userId: "x" }],
  ["account", "account.erased", { accountId: "x" }],
  ["company-account", "company-account.erased", { companyAccountId: "x" }],
] as const)(
  "the erasure of a %s has the last of all sequences, and its time in its id",
  (kind, type, data) => {
    const message = messageOfErasure({ kind, id: "x" }, minute(7), source, "cause");
    expect(message).toMatchObject({ id: `${kind}/x.erased.${minute(7)}`, type, data, time: minute(7) });
    expect(message).toMatchObject({ subject: `${kind}/x`, correlationid: "cause", sequence: "9".repeat(20) });
  },
);

describe("no message", () => {
  const readiness: AccountReadiness = {
    ...{
      subject: { kind: "account", id: accountId },
      version: 1,
      stateVersion: 1,
      endpoints: [],
      readings: {},
    },
    ...{ isConnected: true, isConfirmed: true, since: 1, deadline: 2 },
  };
  const { endpoint: _, ...unnamed } = updated;
  const state: State = { ...waiting, latest: { cause: "event", event: updated, outcome: "applied" } };

  it.each<[string, () => unknown]>([
    ["announced: missing", () => messageOfReadiness(readiness, origin)],
    ["stale: missing", () => messageOfStale(readiness, source)],
    ["event.endpoint: missing", () => messageOfEndpointEvent(unnamed, receiptsOf(), source)],
    ["event.type: no endpoint event announces a state", () => messageOfState(state, source)],
    [
      "subject.kind: data is of an account",
      () => messageOfDocument({ ...read, subject: { kind: "user", id: userId } }, origin),
    ],
  ])("is made of what announces nothing: %s", (reason, make) => {
    expect(make).toThrow(reason);
  });
});
