import type { WebhookKind } from "../../../../domain/event/events.ts";

/** A webhook of an invented provider in a file, and its mapped content. */
type SampleFile = {
  readonly kind: WebhookKind;
  readonly file: string;
  readonly content: string;
  readonly says: object;
};

const json = (value: unknown) => JSON.stringify(value);
const timestamp = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, "0")}:00.000Z`;
const unix = (minute: number) => Date.parse(timestamp(minute)) / 1000;

/** Flat: prefixed ids, verbs in the past tense, Unix times. */
const flat: readonly SampleFile[] = [
  ...["member.added", "member.changed", "member.removed"].map((eventType, n) => ({
    kind: "users" as const,
    file: `${n}.json`,
    content: json({
      event_id: `evt_${n}`,
      eventType,
      occurredAt: unix(n),
      memberId: `mem_${n}a`,
      link: "https://x",
    }),
    says: {
      type: ["user.created", "user.updated", "user.deleted"][n],
      userId: `mem_${n}a`,
      time: timestamp(n),
      eventId: `evt_${n}`,
    },
  })),
  ...["income", "profile"].map((resource, n) => ({
    kind: "endpoints" as const,
    file: `${n}.json`,
    content: json({
      event_id: `evt_2${n}`,
      eventType: "data_ready",
      occurredAt: unix(n),
      acctRef: "acc_77",
      memberId: "mem_1a",
      resource,
      periodStart: "2026-01-01",
      periodEnd: "2026-02-01",
    }),
    says: {
      type: "endpoint.updated",
      accountId: "acc_77",
      userId: "mem_1a",
      endpoint: resource,
      eventId: `evt_2${n}`,
      time: timestamp(n),
      dateStart: "2026-01-01",
      dateEnd: "2026-02-01",
    },
  })),
];

/** CloudEvents in binary mode: bodies are byte-identical. */
const binary: readonly SampleFile[] = ["linked", "unlinked", "linked"].map((verb, n) => ({
  kind: "accounts" as const,
  file: `${n}.http`,
  content: [
    "POST /webhooks/accounts HTTP/1.1",
    "Content-Type: application/json",
    "Authorization: Bearer never-carried",
    "ce-specversion: 1.0",
    `ce-type: com.example.account.${verb}`,
    "ce-source: //example.com/links",
    `ce-id: B-${n}`,
    `ce-time: ${timestamp(n)}`,
    "ce-subject: acc%3A9",
    "",
    json({ userId: "u-500" }),
  ].join("\r\n"),
  says: {
    type: verb === "linked" ? "account.connected" : "account.disconnected",
    accountId: "acc:9",
    userId: "u-500",
    eventId: `B-${n}`,
    time: timestamp(n),
  },
}));

/** One provider with two formats: flat names for users and endpoints, CloudEvents headers for accounts. */
export const samples: readonly SampleFile[] = [...flat, ...binary];

const ofEvent = {
  type: "eventType",
  eventId: "event_id",
  time: "occurredAt",
  userId: "memberId",
  ids: "any",
};

/** The mapping of its webhooks, as an operator writes it. */
export const mapping = {
  users: {
    ...ofEvent,
    types: {
      "member.added": "user.created",
      "member.changed": "user.updated",
      "member.removed": "user.deleted",
    },
  },
  accounts: {
    type: { header: "ce-type" },
    accountId: { header: "ce-subject" },
    eventId: { header: "ce-id" },
    time: { header: "ce-time" },
    userId: "userId",
    ids: "any",
    types: {
      "com.example.account.linked": "account.connected",
      "com.example.account.unlinked": "account.disconnected",
    },
  },
  endpoints: {
    ...ofEvent,
    accountId: "acctRef",
    endpoint: "resource",
    dateStart: "periodStart",
    dateEnd: "periodEnd",
    types: { data_ready: "endpoint.updated" },
  },
};
