import { randomBytes, randomUUID } from "node:crypto";
import { registerSubscribers } from "@income-events/local-stack/stack/subscriber-callers.ts";
import { expect } from "vitest";
import { objectEraser } from "../../../adapters/s3/object-eraser.ts";
import { stateTask, writeTask } from "../../../domain/fetch/task.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { signedFetch } from "../../../proof/support/signed-fetch.ts";
import { eventually } from "../../support/eventually.ts";
import {
  account,
  answers,
  endpoint,
  enqueue,
  fails,
  outage,
  output,
  type Provocations,
  page,
  plant,
  plantSecret,
  provoke,
  secret,
  send,
  setWebhookSecret,
  stage,
  user,
} from "./canary-driver.ts";

/** Provocations of the codes of receivers, stores, the relay and fetch, in order. */
export const webhookProvocations = {
  WEBHOOK_ACCEPTED: async () => {
    for (const [kind, body] of [
      ["users", user()],
      ["users/", user()],
      ["accounts", account("create_account")],
      ["company-accounts", account("create_account", { company_account_id: randomUUID() })],
      ["users", { ...user(), filler: "x".repeat(500_000) }],
      ["accounts", Buffer.from([...Buffer.from(JSON.stringify(account("update_account"))), 0x20])],
    ] as const) {
      expect(await send(kind, body, { "content-type": "application/octet-stream" })).toBe(202);
    }
  },
  WEBHOOK_UNREADABLE: async () => {
    expect(await send("accounts", `{"event":${plant("what is no JSON")}`)).toBe(202);
  },
  WEBHOOK_NOT_KEPT: async () => {
    for (const [kind, body] of [
      ["users", `{"data":{"link":"${plantSecret("a link that can't be parsed")}"`],
      ["accounts", `{"data":{"link":"${plantSecret("a link that can't be parsed")}"`],
      ["users", `${plantSecret("a text in place of JSON")} at position 5`],
      ["users", Buffer.concat([Buffer.from(plantSecret("a body that is no text")), Buffer.from([0xff])])],
    ] as const)
      expect(await send(kind, body)).toBe(503);
  },
  WEBHOOK_REFUSED: async () => {
    expect(await send("users", user(), { "x-webhook-secret": plantSecret("a wrong secret") })).toBe(401);
    expect(await send("users", "x".repeat(1_000_001))).toBe(413);
    await setWebhookSecret({ current: secret(), signing: plantSecret("the signing secret") });
    expect(await send("users", user(), { "x-signature": plantSecret("a wrong signature") })).toBe(401);
    await setWebhookSecret({ current: secret() });
  },
  WEBHOOK_FAILED: async () => {
    for (const [action, body] of [
      ["sqs:SendMessage", user()],
      ["s3:PutObject", { ...user(), filler: plant("a filler").repeat(20_000) }],
    ] as const) {
      await provoke("WEBHOOK_FAILED", async () => {
        fails(/^UsersReceive/, action, { status: 403, errorType: "AccessDenied" });
        expect(await send("users", body)).toBe(503);
      });
    }
    stage()
      .functionOf(/^UsersReceive/)
      .kill();
    fails(/^UsersReceive/, "secretsmanager:GetSecretValue", { errorType: "InvalidRequestException" });
    await send("users", user());
  },
  WEBHOOK_SECRET_STALE: async () => {
    expect(await send("users", user())).toBe(202);
    const down = { status: 503, errorType: "ServiceUnavailable" };
    fails(/^UsersReceive/, "secretsmanager:GetSecretValue", down);
    // Until the receiver's cached secret expires.
    await eventually(async () => {
      expect(await send("users", user())).toBe(202);
      expect(stage().count("WEBHOOK_SECRET_STALE")).toBeGreaterThan(0);
    }, 100);
  },
  WEBHOOK_SECRET_EMPTY: async () => {
    await setWebhookSecret({ currently: plantSecret("a secret under a wrong name") });
    expect(await send("accounts", account("update_account"))).toBe(503);
    await setWebhookSecret({ current: secret() });
  },
  EVENT_STORED: () => send("users", user({ action: "update_user" })),
  EVENT_DUPLICATE: async () => {
    const body = account("update_account");
    for (let time = 0; time < 2; time += 1) await send("accounts", body, { "ce-id": "the-same" });
  },
  EVENT_IGNORED: () => send("accounts", account("ping", { account_id: plant("an id that nobody reads") })),
  ATTRIBUTE_LEFT_OUT: () => send("users", user({ reference: plant("a reference").repeat(100) })),
  MESSAGE_REJECTED: async () => {
    const words = plant("a word that is none of ours");
    await send("users", user({ action: words }));
    await send("accounts", account("connect_account", { account_id: words }));
    await send("accounts", account("update_account", { connected: words }));
    await send("endpoints", endpoint({ endpoint: { name: words } }));
  },
  MESSAGE_FAILED: () => {
    fails(/^AccountsStore/, "dynamodb:BatchExecuteStatement", { errorType: "AccessDeniedException" });
    return send("accounts", account("update_account"));
  },
  RELAYED: () => send("accounts", account("update_account")),
  TASK_DONE: () => send("endpoints", endpoint()),
  TASK_SKIPPED: () =>
    enqueue(
      "FetchQueueUrl",
      writeTask(stateTask("fetchState", { kind: "account", id: randomUUID() }, 7, {})),
    ),
  START_UNANSWERED: () => send("accounts", account("connect_account", { connected: true })),
  TASK_POSTPONED: async () => {
    for (const answer of [
      () => page(500),
      () => page(429),
      () => page(200),
      () => page(202),
      () => ({ text: `{"data":[{"name":"${plantSecret("data that breaks off")}` }),
      () => (response: { destroy(): void }) => response.destroy(),
    ]) {
      await provoke("TASK_POSTPONED", () => {
        answers(/\/income$/, answer);
        return send("endpoints", endpoint());
      });
    }
  },
  PROVIDER_DOWN: () => outage(),
  // A separate outage: the end of the previous one may be noticed at any time.
  PROVIDER_BACK: () => outage(),
  RECORD_FAILED: () => {
    fails(/^Relay/, "dynamodb:BatchExecuteStatement", { errorType: "AccessDeniedException" });
    return send("accounts", account("update_account"));
  },
  RECORD_PARKED: "only a change that no release writes; test/functions/relay/relay-failures.int.test.ts",
  SUBSCRIBER_RESENT: "only what a schedule sends minutes later; test/functions/relay/resend.int.test.ts",
  SUBSCRIBER_UNREACHABLE: "only after a quarter hour; test/functions/relay/resend.int.test.ts",
  SUBSCRIBER_PARKED: () => {
    const denied = { status: 403, errorType: "AccessDenied" };
    fails(/^Relay/, "sqs:SendMessageBatch", denied, output("SubscriberEverythingQueueArn"));
    return send("users", user());
  },
} satisfies Provocations;

const readAccount = randomUUID();
const answerOf = async (subscriber: string) => {
  const callers = registerSubscribers(stage().stack);
  const credentials = callers.find(({ name }) => name === subscriber)?.credentials;
  const url = new URL(`v1/accounts/${readAccount}/documents/income`, output("DocumentsUrl"));
  const headers = {
    "x-person": plantSecret("a header of a reader"),
    "user-agent": plantSecret("a reader"),
  };
  const answer = await signedFetch(url, {
    region: stage().stack.region,
    headers,
    ...(credentials && { credentials }),
  });
  return { status: answer.status, bytes: (await answer.arrayBuffer()).byteLength };
};
const read = async (subscriber: string) => (await answerOf(subscriber)).status;
/** Retries until the data can be read: a concurrent task may have been another one. */
const fetchAgain = (data: readonly unknown[]) =>
  provoke("TASK_DONE", async () => {
    answers(new RegExp(`${readAccount}/income$`), () => ({ json: { data, next: null } }));
    await send("endpoints", endpoint({ account_id: readAccount }));
    // A problem has bytes too.
    const bytesOfDocument = async () => {
      const { status, bytes } = await answerOf("everything");
      return status === 200 ? bytes : 0;
    };
    await expect.poll(bytesOfDocument).toBeGreaterThanOrEqual(JSON.stringify(data).length);
  });

/** Provocations of the read API's codes, in order. */
export const readProvocations = {
  READ: async () => {
    await fetchAgain([{ name: plant("small data") }]);
    expect(await read("everything")).toBe(200);
  },
  READ_REFUSED: async () => expect(await read("accounts")).toBe(403),
  READ_FAILED: async () => {
    fails(/^ReadDocuments/, "dynamodb:GetItem", { errorType: "AccessDeniedException" });
    expect(await read("everything")).toBe(503);
  },
  DOCUMENT_DATA_MISSING: async () => {
    await fetchAgain([{ name: plant("large data"), filler: randomBytes(20_000).toString("base64") }]);
    using clients = clientsOf(stage().access);
    const bodies = objectEraser(clients.s3, output("OverflowBucketName"));
    await bodies.removeBelow(`data/account/${readAccount}/`);
    expect(await read("everything")).toBe(500);
  },
} satisfies Provocations;
