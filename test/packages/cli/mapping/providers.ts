import type { WebhookKind } from "../../../../domain/event/events.ts";
import { parseSample, type Sample } from "../../../../packages/cli/mapping/sample.ts";

/** An invented provider: its webhooks in files, by kind, and what they say in our words. */
export type InventedProvider = {
  readonly name: string;
  readonly files: readonly {
    readonly kind: WebhookKind;
    readonly file: string;
    readonly content: string;
    readonly says: object;
  }[];
};

const uuid = (n: number) => `0f8fad5b-d9cb-469f-a165-${String(n).padStart(12, "0")}`;
const json = (value: unknown) => JSON.stringify(value);
const timestamp = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, "0")}:00.000Z`;
const unix = (minute: number) => Date.parse(timestamp(minute)) / 1000;

/** Flat: ids with prefixes, verbs in the past, Unix times. */
const flat: InventedProvider = {
  name: "flat names",
  files: [
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
    ...["account_linked", "account_unlinked", "account_linked"].map((eventType, n) => ({
      kind: "accounts" as const,
      file: `${n}.json`,
      content: json({
        event_id: `evt_1${n}`,
        eventType,
        occurredAt: unix(n),
        acctRef: "acc_77",
        memberId: "mem_1a",
        platform: "rides-and-more",
        linked: n !== 1,
      }),
      says: {
        type: n === 1 ? "account.disconnected" : "account.connected",
        accountId: "acc_77",
        userId: "mem_1a",
        datasourceId: "rides-and-more",
        eventId: `evt_1${n}`,
        time: timestamp(n),
        connected: n !== 1,
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
  ],
};

/** Nested, with UUIDs, a record's own times, and a list of one around all. */
const nested: InventedProvider = {
  name: "nested objects",
  files: ["account.connected", "account.disconnected", "account.updated"].map((name, n) => ({
    kind: "accounts" as const,
    file: `${n}.json`,
    content: json([
      {
        meta: { id: uuid(100 + n), "sent-at": timestamp(n), retry: 0 },
        notification: { type: name },
        payload: {
          account: {
            id: uuid(1),
            created_at: timestamp(0),
            status: "ok",
            user: { id: uuid(2), name: "A. Person" },
          },
          connected: n === 0,
        },
      },
    ]),
    says: {
      type: name,
      accountId: uuid(1),
      userId: uuid(2),
      time: timestamp(n),
      connected: n === 0,
    },
  })),
};

/** CloudEvents in structured mode. */
const structured: InventedProvider = {
  name: "CloudEvents in structured mode",
  files: ["com.example.user.created.v1", "com.example.user.deleted.v1"].map((type, n) => ({
    kind: "users" as const,
    file: `${n}.json`,
    content: json({
      specversion: "1.0",
      id: `A-${n}`,
      source: "//example.com/people",
      type,
      time: timestamp(n),
      subject: "u-500",
      datacontenttype: "application/json",
      data: { plan: "free", seats: 3 },
    }),
    says: { type: n === 0 ? "user.created" : "user.deleted", userId: "u-500", time: timestamp(n) },
  })),
};

/** CloudEvents in binary mode: bodies are equal, byte for byte. */
const binary: InventedProvider = {
  name: "CloudEvents in binary mode",
  files: ["linked", "unlinked", "linked"].map((verb, n) => ({
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
  })),
};

export const inventedProviders = [flat, nested, structured, binary];

export function samplesOf({ files }: InventedProvider, kind: WebhookKind): readonly Sample[] {
  return files
    .filter((file) => file.kind === kind)
    .map(({ file, content }) => parseSample(file, Buffer.from(content)));
}
