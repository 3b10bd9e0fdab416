import { randomUUID } from "node:crypto";
import { DeleteItemCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { ProviderAnswer } from "@income-events/local-stack/provider.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { reconciliationKey } from "../../adapters/dynamodb/keys.ts";
import { fetchStateTask, writeTask } from "../../domain/fetch/tasks.ts";
import { eraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { type LogCode, logCodes, logLevels } from "../../functions/runtime/log.ts";
import { originsOfCodes } from "../../tools/documents/log-origins.ts";
import { type CanaryStage, type StoredMessage, startCanaryStage } from "../support/canary-stage.ts";
import { eventually } from "../support/eventually.ts";
import { webhookSecretOf } from "../support/operator.ts";

const settings = {
  webhooks: { secretCacheSeconds: 1, maxBodyBytes: 1_000_000 },
  mapping: { accounts: { eventId: { header: "ce-id" } } },
  // The signs of an outage come and go with the answers below.
  functions: { store: { timeoutSeconds: 2 }, fetch: { timeoutSeconds: 4 }, relay: { timeoutSeconds: 4 } },
  fetch: { maxConcurrency: 4, readAfterSeconds: 1, retry: { baseSeconds: 1, maxSeconds: 2 } },
};
const written = {
  timestamp: z.iso.datetime(),
  level: z.enum(["INFO", "WARN", "ERROR"]),
  requestId: z.uuid(),
};
const logLine = z.union([
  z.object({ ...written, code: z.custom<LogCode>(isCode), function: z.string().regex(/^[a-z]+\/[a-z-]+$/) }),
  // What Lambda's runtime writes of what a handler throws.
  z.strictObject({ ...written, message: z.object({ errorType: z.string(), errorMessage: z.string() }) }),
]);
const levels: Partial<Record<LogCode, string>> = logLevels;
/** Of so few reasons it would say little that no word is found in them. */
const fewReasons = 5;

describe("what functions write, and what is stored", () => {
  let stage: CanaryStage;
  let secret: string;
  let token: string;
  let messages: readonly StoredMessage[];
  /** Planted in what must be nowhere at all: credentials, headers that no setting names, errors' texts. */
  const secrets = new Set<string>();
  const plantSecret = (what: string): string => {
    secrets.add(what);
    return stage.canaries.plant(what);
  };
  const plant = (what: string) => stage.canaries.plant(what);

  beforeAll(async () => {
    stage = await startCanaryStage("local", settings);
    secret = await webhookSecretOf(stage.stack);
    token = await setToken(7_200);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const output = (name: string) => outputOf(stage.stack, name);
  const invoke = (id: RegExp, event: object = {}) => stage.functionOf(id).invoke(JSON.stringify(event));

  /** Issued `ago` seconds before: a later one is the newer one. */
  const makeToken = (seconds: number, ago = 0): string => {
    const iat = Math.floor(Date.now() / 1000) - ago;
    const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
    const claims = { iat, exp: iat + seconds, sub: plantSecret("a claim of the token") };
    return `${part({ alg: "none" })}.${part(claims)}.${plantSecret("the token's signature")}`;
  };
  const setToken = async (seconds: number, ago = 60): Promise<string> => {
    const made = makeToken(seconds, ago);
    await stage.stack.setSecret(output("TokenSecretArn"), JSON.stringify({ token: made }));
    return made;
  };
  const setWebhookSecret = async (content: object) => {
    await stage.stack.setSecret(output("WebhookSecretArn"), JSON.stringify(content));
    // Receivers that start again have kept no secret.
    for (const { logicalId, kill } of stage.stack.functions) if (logicalId.includes("Receive")) kill();
  };

  const send = async (
    kind: string,
    body: string | object | Uint8Array,
    headers: Record<string, string> = {},
  ) => {
    const answer = await fetch(`${output("WebhooksUrl")}/${kind}?access=${plantSecret("the query")}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-webhook-secret": secret,
        authorization: plantSecret("the header authorization"),
        cookie: plantSecret("a cookie"),
        "x-person": plantSecret("a header that no setting names"),
        "user-agent": plantSecret("the user agent"),
        "ce-id": plant("a header that the mapping reads"),
        ...headers,
      },
      body: typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const user = (more: object = {}) => ({
    action: "create_user",
    ...more,
    data: {
      id: randomUUID(),
      name: plant("a user's name"),
      email: `${plant("a user's address")}@example.com`,
      link: `https://example.com/${plantSecret("link")}`,
      session: plantSecret("session"),
      accounts: [{ link: { token: plantSecret("a link inside") } }],
      session_expires_at: null,
    },
  });
  const account = (event: string, more: object = {}) => ({
    event,
    account_id: randomUUID(),
    user_id: randomUUID(),
    datasource_id: plant("a data source"),
    employer: { name: plant("an employer"), [plant("a field's name")]: plant("a field") },
    ...more,
  });
  const endpoint = (more: object = {}) =>
    account("update_endpoint", {
      endpoint: "income",
      request_id: plant("a request's id"),
      data_available: true,
      ...more,
    });

  /** Does something, and waits until the code was logged once more. */
  const provoke = async (code: LogCode, action: () => Promise<unknown>) => {
    const before = stage.count(code);
    await action();
    await eventually(() => expect(stage.count(code), code).toBeGreaterThan(before), 100);
  };
  /** The same while something fails. */
  const during = async (end: () => void, code: LogCode, action: () => Promise<unknown>) => {
    try {
      await provoke(code, action);
    } finally {
      end();
    }
  };
  /** Lets the archive look for dead letters until a code is logged: an erasure hides those that it goes through. */
  const archiveUntil = (code: LogCode) => {
    const before = stage.count(code);
    return eventually(async () => {
      await invoke(/Archive/, { beforeEndSeconds: 100_000_000 });
      expect(stage.count(code), code).toBeGreaterThan(before);
    }, 100);
  };
  const archivedReasons = async () =>
    (await stage.objects())
      .filter((text) => text.startsWith("letters/"))
      .flatMap((text) => /"reason":"[^"]*"/.exec(text)?.[0] ?? []);
  const page = (status: number): ProviderAnswer => ({
    status,
    headers: { "content-type": "text/html", "x-error": plantSecret("a header of an error") },
    text: `<html><body>${plantSecret(`the page of a ${status}`)}</body></html>`,
  });
  const forgetReconciliation = async () => {
    const { gatewayUrl: endpointUrl, region, operator: credentials } = stage.stack;
    const client = new DynamoDBClient({ endpoint: endpointUrl, region, credentials });
    await client.send(
      new DeleteItemCommand({ TableName: output("TableName"), Key: marshall(reconciliationKey) }),
    );
    client.destroy();
  };
  const enqueue = async (queue: string, MessageBody: string) => {
    const { gatewayUrl: endpointUrl, region, operator: credentials } = stage.stack;
    const client = new SQSClient({ endpoint: endpointUrl, region, credentials });
    await client.send(new SendMessageCommand({ QueueUrl: output(queue), MessageBody }));
    client.destroy();
  };
  const erased = randomUUID();
  const erase = async (id: string) => {
    await provoke("EVENT_STORED", () => send("accounts", account("update_account", { user_id: id })));
    await enqueue("EraseQueueUrl", writeEraseTask(eraseTask({ kind: "user", id }, "operator")));
  };
  const outage = () =>
    during(
      stage.answers(/\/income$/, () => page(503)),
      "PROVIDER_DOWN",
      async () => {
        for (let sent = 0; sent < 6; sent += 1) await send("endpoints", endpoint());
      },
    );
  const reconcile = async () => {
    await forgetReconciliation();
    return invoke(/^Reconcil/);
  };
  const listed = () => ({
    id: randomUUID(),
    name: plant("a listed user"),
    created_at: "2020-01-01 00:00:00 UTC",
  });
  const refreshWith = (next: string) => () => ({
    headers: { "x-answer": plantSecret("a header of the refresh") },
    json: { token: next, note: plantSecret("the refresh") },
  });

  /**
   * How each code comes to be logged, in order. A new code says here how: what is logged with it is then looked at
   * below. Where it can't be provoked, a sentence says why.
   */
  const provocations: Readonly<Record<LogCode, (() => Promise<unknown>) | string>> = {
    WEBHOOK_ACCEPTED: async () => {
      for (const [kind, body] of [
        ["users", user()],
        ["accounts", account("create_account")],
        ["company-accounts", account("create_account", { company_account_id: randomUUID() })],
        ["users", { ...user(), filler: "x".repeat(500_000) }],
        ["accounts", Buffer.from([...Buffer.from(JSON.stringify(account("update_account"))), 0x20])],
      ] as const) {
        expect(await send(kind, body, { "content-type": "application/octet-stream" })).toBe(202);
      }
    },
    WEBHOOK_UNREADABLE: async () => {
      await send("users", `{"data":{"link":"${plantSecret("a link that can't be parsed")}"`);
      await send("users", `${plantSecret("a text in place of JSON")} at position 5`);
      await send("accounts", `{"event":${plant("what is no JSON")}`);
      await send(
        "users",
        Buffer.concat([Buffer.from(plantSecret("a body that is no text")), Buffer.from([0xff])]),
      );
    },
    WEBHOOK_REFUSED: async () => {
      expect(await send("users", user(), { "x-webhook-secret": plantSecret("a wrong secret") })).toBe(401);
      expect(await send("users", "x".repeat(1_000_001))).toBe(413);
      await setWebhookSecret({ current: secret, signing: plantSecret("the signing secret") });
      expect(await send("users", user(), { "x-signature": plantSecret("a wrong signature") })).toBe(401);
      await setWebhookSecret({ current: secret });
    },
    WEBHOOK_FAILED: async () => {
      for (const [action, body] of [
        ["sqs:SendMessageBatch", user()],
        ["s3:PutObject", { ...user(), filler: plant("a filler").repeat(20_000) }],
      ] as const) {
        await during(
          stage.fails(/^UsersReceive/, action, { status: 403, errorType: "AccessDenied" }),
          "WEBHOOK_FAILED",
          async () => expect(await send("users", body)).toBe(503),
        );
      }
      stage.functionOf(/^UsersReceive/).kill();
      const end = stage.fails(/^UsersReceive/, "secretsmanager:GetSecretValue", {
        errorType: "InvalidRequestException",
      });
      await during(end, "WEBHOOK_FAILED", () => send("users", user()));
    },
    WEBHOOK_SECRET_EMPTY: async () => {
      await setWebhookSecret({ currently: plantSecret("a secret under a wrong name") });
      expect(await send("accounts", account("update_account"))).toBe(503);
      await setWebhookSecret({ current: secret });
    },
    EVENT_STORED: () => send("users", user({ action: "update_user" })),
    EVENT_AGAIN: async () => {
      const body = account("update_account");
      for (let time = 0; time < 2; time += 1) await send("accounts", body, { "ce-id": "the-same" });
    },
    MESSAGE_REJECTED: async () => {
      const words = plant("a word that is none of ours");
      await send("users", user({ action: words }));
      await send("accounts", account("connect_account", { account_id: words }));
      await send("accounts", account("update_account", { connected: words }));
      await send("endpoints", endpoint({ endpoint: { name: words } }));
    },
    MESSAGE_FAILED: async () => {
      const end = stage.fails(/^AccountsStore/, "dynamodb:UpdateItem", {});
      await during(end, "MESSAGE_FAILED", () => send("accounts", account("update_account")));
    },
    RELAYED: () => send("accounts", account("update_account")),
    TASK_DONE: () => send("endpoints", endpoint()),
    TASK_VOID: () =>
      enqueue("FetchQueueUrl", writeTask(fetchStateTask({ kind: "account", id: randomUUID() }, 7))),
    START_UNANSWERED: () => send("accounts", account("connect_account", { connected: true })),
    TASK_POSTPONED: async () => {
      for (const answer of [
        () => page(500),
        () => page(429),
        () => (response: { destroy(): void }) => response.destroy(),
      ]) {
        await during(stage.answers(/\/income$/, answer), "TASK_POSTPONED", () =>
          send("endpoints", endpoint()),
        );
      }
    },
    PROVIDER_DOWN: () => outage(),
    // An outage of its own: that the one before is over may be noticed at any moment.
    PROVIDER_BACK: () => outage(),
    RECORD_FAILED: async () => {
      const end = stage.fails(/^Relay/, "dynamodb:PutItem", {});
      const other = stage.fails(/^Relay/, "dynamodb:UpdateItem", {});
      await during(
        () => [end, other].forEach((each) => void each()),
        "RECORD_FAILED",
        () => send("accounts", account("update_account")),
      );
    },
    SUBSCRIBER_PARKED: async () => {
      const end = stage.fails(
        /^Relay/,
        "sqs:SendMessageBatch",
        { status: 403, errorType: "AccessDenied" },
        output("SubscriberEverythingQueueArn"),
      );
      await during(end, "SUBSCRIBER_PARKED", () => send("users", user()));
    },
    WEBHOOKS_REGISTERED: async () => {
      for (const answer of [() => page(422), () => page(500), () => page(404)]) {
        const end = stage.answers(/^PUT /, answer);
        expect(await invoke(/^Regist/)).toMatchObject({ kind: "failed" });
        end();
      }
      await invoke(/^Regist/);
    },
    WEBHOOKS_REGISTERED_PREVIOUS: async () => {
      const previousUntil = new Date(Date.now() + 3_600_000).toISOString();
      await setWebhookSecret({ current: plantSecret("the next secret"), previous: secret, previousUntil });
      await invoke(/^Regist/);
      await setWebhookSecret({ current: secret });
    },
    TOKEN_KEPT: () => invoke(/^.*Refresh/),
    TOKEN_UNCHANGED: async () => {
      const end = stage.answers(/refresh/, refreshWith(token));
      await during(end, "TOKEN_UNCHANGED", () => invoke(/Refresh/, { now: true }));
    },
    TOKEN_REFUSED: async () => {
      await during(
        stage.answers(/refresh/, () => page(401)),
        "TOKEN_REFUSED",
        () => invoke(/Refresh/, { now: true }),
      );
    },
    TOKEN_DISCARDED: async () => {
      const ends = [
        stage.answers(/refresh/, refreshWith(makeToken(7_200))),
        stage.answers(/users(\?|$)/, () => page(401)),
      ];
      await during(
        () => ends.forEach((end) => void end()),
        "TOKEN_DISCARDED",
        () => invoke(/Refresh/, { now: true }),
      );
    },
    TOKEN_OVERTAKEN: async () => {
      const ends = [
        stage.answers(/refresh/, refreshWith(makeToken(7_200))),
        stage.fails(/Refresh/, "secretsmanager:UpdateSecretVersionStage", {
          errorType: "InvalidParameterException",
        }),
      ];
      await during(
        () => ends.forEach((end) => void end()),
        "TOKEN_OVERTAKEN",
        () => invoke(/Refresh/, { now: true }),
      );
    },
    TOKEN_STANDS: async () => {
      token = await setToken(7_200);
      const end = stage.answers(/\/income$/, () => page(401));
      await during(end, "TOKEN_STANDS", async () => {
        await provoke("TASK_POSTPONED", () => send("endpoints", endpoint()));
        await invoke(/Refresh/);
      });
    },
    TOKEN_REFRESHED: async () => {
      for (const answer of [
        () => page(403),
        () => page(500),
        () => page(200),
        () => ({ json: { token: [plantSecret("a token in a list")] } }),
      ]) {
        const end = stage.answers(/refresh/, answer);
        expect(await invoke(/Refresh/, { now: true })).toMatchObject({ kind: "failed" });
        end();
      }
      const end = stage.answers(/refresh/, refreshWith(makeToken(7_200)));
      await during(end, "TOKEN_REFRESHED", () => invoke(/Refresh/, { now: true }));
    },
    TOKEN_SHORT_LIVED: async () => {
      await setToken(600);
      await invoke(/Refresh/);
    },
    // Each run that finds a token says how long it lives.
    TOKEN_LIFE: () => invoke(/Refresh/),
    TOKEN_NEAR_END: async () => {
      await setToken(7_200, 7_000);
      await during(
        stage.answers(/refresh/, () => page(401)),
        "TOKEN_NEAR_END",
        () => invoke(/Refresh/),
      );
    },
    TOKEN_MISSING: async () => {
      await stage.stack.setSecret(output("TokenSecretArn"), plantSecret("a token that is no JSON"));
      expect(await invoke(/Refresh/)).toMatchObject({ kind: "failed" });
      await stage.stack.setSecret(
        output("TokenSecretArn"),
        JSON.stringify({ tokens: plantSecret("a token under a wrong name") }),
      );
      await invoke(/Refresh/);
      token = await setToken(7_200);
    },
    RECONCILIATION_PAUSED: async () => {
      await during(
        stage.answers(/users(\?|$)/, () => page(503)),
        "RECONCILIATION_PAUSED",
        reconcile,
      );
    },
    RECONCILIATION_FAILED: async () => {
      for (const answer of [
        () => page(400),
        () => page(200),
        () => ({ json: { data: [{ name: plantSecret("a user without an id") }] } }),
      ]) {
        await during(stage.answers(/users(\?|$)/, answer), "RECONCILIATION_FAILED", reconcile);
      }
    },
    RECONCILIATION_OVERTAKEN: async () => {
      const end = stage.fails(/^Reconcil/, "dynamodb:PutItem", {
        errorType: "ConditionalCheckFailedException",
      });
      await during(end, "RECONCILIATION_OVERTAKEN", reconcile);
    },
    RECONCILIATION_SKIPPED: async () => {
      const data = () => [listed(), { id: plant("a listed user's id that is no UUID") }];
      const ends = [
        stage.answers(/users(\?|$)/, () => ({ json: { data: data(), next: null } })),
        stage.answers(/users\/.*\/accounts/, () => page(400)),
      ];
      await during(() => ends.forEach((end) => void end()), "RECONCILIATION_SKIPPED", reconcile);
    },
    RECONCILED: async () => {
      const end = stage.answers(/users(\?|$)/, () => ({ json: { data: [listed()], next: null } }));
      await during(end, "RECONCILED", reconcile);
    },
    ERASED: () => erase(erased),
    ARRIVED_LATE: () => send("accounts", account("update_account", { user_id: erased })),
    ERASED_AGAIN: () => erase(randomUUID()),
    ARCHIVING_FAILED: async () => {
      await during(
        stage.fails(/^.*Archive/, "s3:PutObject", { status: 403, errorType: "AccessDenied" }),
        "ARCHIVING_FAILED",
        () => archiveUntil("ARCHIVING_FAILED"),
      );
    },
    LETTERS_ARCHIVED: async () => {
      await archiveUntil("LETTERS_ARCHIVED");
      // What was looked at before is hidden for a while: how many dead letters one run finds is chance.
      await eventually(async () => {
        await invoke(/Archive/, { beforeEndSeconds: 100_000_000 });
        expect((await archivedReasons()).length).toBeGreaterThan(fewReasons);
      }, 100);
    },
  };

  it.each(Object.keys(provocations).filter(isCode))("%s is logged on its path", async (code) => {
    const action = provocations[code];
    if (typeof action === "function") await provoke(code, action);
  });

  it("a read that is answered badly is given up, each in its way", async () => {
    // Made once: it takes longer than an answer may.
    const tooLarge = JSON.stringify({ data: plantSecret("an answer that is too large").repeat(900_000) });
    const bad: readonly (() => ProviderAnswer)[] = [
      () => page(400),
      () => page(200),
      () => ({
        status: 302,
        headers: { location: `https://elsewhere.example/${plantSecret("where a redirect leads")}` },
      }),
      () => ({ text: `{"data":[{"name":"${plantSecret("data that breaks off")}` }),
      () => ({ json: { data: [], next: { page: plantSecret("a cursor that is none") } } }),
      () => ({ text: tooLarge }),
    ];
    for (const answer of bad) {
      await during(stage.answers(/\/income$/, answer), "MESSAGE_REJECTED", () =>
        send("endpoints", endpoint()),
      );
    }
  });

  it.each([
    [/Refresh/, "secretsmanager:GetSecretValue"],
    [/^Regist/, "secretsmanager:GetSecretValue"],
    [/^Regist/, "dynamodb:UpdateItem"],
    [/^Reconcil/, "dynamodb:GetItem"],
    [/^Reconcil/, "dynamodb:PutItem"],
    [/Archive/, "sqs:ReceiveMessage"],
  ])("a function whose call to AWS fails, fails with a reason of its own: %s %s", async (id, action) => {
    await forgetReconciliation();
    stage.functionOf(id).kill();
    const end = stage.fails(id, action, { errorType: "AccessDeniedException" });
    const outcome = await invoke(id);
    end();
    expect(outcome).toMatchObject({ kind: "failed" });
    expect(stage.canaries.foundIn(JSON.stringify(outcome))).toEqual([]);
  });

  it("a function that is killed in its work, or throws, writes no more than its own reasons", async () => {
    await provoke("TASK_DONE", async () => {
      await send("endpoints", endpoint());
      stage.functionOf(/^Endpoints.*Store/).kill();
      stage.functionOf(/^Relay/).kill();
    });
    expect(stage.logged().some((line) => line.includes('"errorType"'))).toBe(true);
  });

  it("every log line is one JSON object that says when, how grave, what, where, and in which invocation", () => {
    // What ends a process by force (a kill, a time-out) writes in Lambda's own words.
    const lines = stage.logged().filter((line) => !/^(Runtime\.|Sandbox\.)/.test(line));
    const entries = lines.map((line) => logLine.parse(JSON.parse(line)));
    const codes = entries.flatMap((entry) => ("code" in entry ? [entry] : []));
    expect(codes.filter(({ code, level }) => level !== (levels[code] ?? "INFO"))).toEqual([]);
    expect(new Set(codes.map((entry) => entry.function)).size).toBe(stage.stack.functions.length);
    const origins = originsOfCodes();
    const isDocumented = ({ code, function: name }: (typeof codes)[number]) =>
      origins.get(code)?.some((origin) => origin === name || origin === name.replace(/\/.*/, "/*"));
    expect(codes.filter((entry) => !isDocumented(entry))).toEqual([]);
  });

  it("no log line holds a word of what came in, of the provider's answers, or of AWS's errors", () => {
    const lines = stage.logged();
    expect(lines.length).toBeGreaterThan(100);
    const access = stage.stack.accessLog().map((entry) => JSON.stringify(entry));
    expect(access.length).toBeGreaterThan(10);
    const leaks = [...lines, ...access].filter((line) => stage.canaries.foundIn(line).length > 0);
    expect(leaks.map((line) => [stage.canaries.foundIn(line), line.slice(0, 600)])).toEqual([]);
  });

  it("no credential, unnamed header or error text reaches a queue, dead letter, table or bucket", async () => {
    messages = await stage.messages();
    const [items, objects] = [await stage.items(), await stage.objects()];
    expect(Math.min(messages.length, items.length, objects.length)).toBeGreaterThan(0);
    const stored = [...messages.flatMap(({ body, attributes }) => [body, attributes]), ...items, ...objects];
    const leaks = stored.map((text) =>
      stage.canaries.foundIn(text).filter((what) => secrets.has(what) || /^AWS's message/.test(what)),
    );
    expect(
      leaks.map((found, index) => [found, stored[index]?.slice(0, 300)]).filter(([found]) => found?.length),
    ).toEqual([]);
    // What is stored does hold canaries: they would be found.
    expect(stored.flatMap(stage.canaries.foundIn)).toEqual(
      expect.arrayContaining(["a user's name", "what is no JSON", "data"]),
    );
  });

  it("reasons and other attributes of dead letters, and texts of alarms, hold no word of it", async () => {
    const archived = await archivedReasons();
    const attributes = messages.map((message) => message.attributes);
    const reasons = attributes.filter((text) => text.includes("reason"));
    expect(Math.min(archived.length, reasons.length)).toBeGreaterThan(fewReasons);
    const alarms = stage.stack.alarms().map((alarm) => JSON.stringify(alarm));
    expect([...archived, ...attributes, ...alarms].flatMap(stage.canaries.foundIn)).toEqual([]);
  });
});

function isCode(name: unknown): name is LogCode {
  return typeof name === "string" && name in logCodes;
}
