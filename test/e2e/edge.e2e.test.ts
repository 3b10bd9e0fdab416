import { randomUUID } from "node:crypto";
import * as sqs from "@aws-sdk/client-sqs";
import { parsePolicy } from "@income-events/local-stack/iam/policy.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type WebhookKind, webhookKinds } from "../../domain/event/events.ts";
import { readTable } from "../../proof/scenario/snapshot.ts";
import { type RunningProduct, startProduct } from "../support/running-product.ts";
import { startTestProvider } from "../support/test-provider.ts";
import { registerAtProvider, webhookSecretOf } from "../support/webhooks.ts";

const reader = {
  name: "reader",
  arn: "arn:aws:iam::210987654321:role/reader",
  accessKeyId: "READEROFANOTHERACCOUNT",
  secretAccessKey: "of-another-account",
};
const reserved = 2;

/** Every edge setting in one assembly. */
const settings = {
  accountConcurrency: 1_000,
  functions: {
    receive: { reservedConcurrency: reserved, timeoutSeconds: 29 },
  },
  webhooks: {
    // Longer than the test on any machine, so the secret is read once.
    secretCacheSeconds: 900,
    maxBodyBytes: 10_000,
    answerProbes: true,
    // The flood must reach the receiver.
    throttle: { requestsPerSecond: 10_000, burst: 5_000 },
    customDomain: {
      name: "hooks.example.com",
      certificateArn: "arn:aws:acm:eu-central-1:000000000000:certificate/4f6e",
    },
  },
  tracing: "service",
  encryption: { keyArn: "arn:aws:kms:eu-central-1:000000000000:key/0f8fad5b-d9cb-469f-a165-70867728950e" },
  subscribers: [{ name: "everything" }, { name: "theirs", types: ["user.*"], principals: [reader.arn] }],
};

let product: RunningProduct;
let stack: LocalStack;
beforeAll(async () => {
  product = await startProduct("local", settings);
  ({ stack } = product.system);
});
afterAll(() => product?.[Symbol.asyncDispose]());

async function send(kind: string, secret: string, body: unknown): Promise<number> {
  const answer = await fetch(`${outputOf(stack, "WebhooksUrl")}/${kind}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-webhook-secret": secret },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

const account = () => ({ event: "update_account", account_id: randomUUID(), user_id: randomUUID() });
const bodies: Readonly<Record<string, () => unknown>> = {
  users: () => ({ action: "create_user", data: { id: randomUUID() } }),
  endpoints: () => ({ ...account(), event: "update_endpoint", endpoint: "income", data_available: false }),
  "company-accounts": () => ({ ...account(), company_account_id: randomUUID() }),
};

function functionOf(logicalId: RegExp) {
  const found = stack.functions.find((each) => logicalId.test(each.logicalId));
  if (found === undefined) throw new Error(`no function ${logicalId}`);
  return found;
}

const stored = async () => (await readTable(product.system.access, outputOf(stack, "TableName"))).events.size;

/** A function's calls through the gateway so far. */
function callsOf(logicalId: RegExp): Readonly<Record<string, number>> {
  const prefix = `${functionOf(logicalId).name} `;
  const calls = [...stack.gateway.calls()].filter(([call]) => call.startsWith(prefix));
  return Object.fromEntries(calls.map(([call, count]) => [call.slice(prefix.length), count]));
}

it("a path without a route is received if it leads to a kind, and is 404 otherwise", async () => {
  const secret = webhookSecretOf(stack);
  for (const path of ["users/", "Users", "/users"])
    expect(await send(path, secret, bodies.users?.())).toBe(202);
  expect(await send("Company-Accounts/", secret, bodies["company-accounts"]?.())).toBe(202);
  expect(await send("Users/", "wrong", bodies.users?.())).toBe(401);
  for (const path of ["people", "users/7"]) expect(await send(path, secret, {})).toBe(404);
  expect(callsOf(/^OtherPathsReceive/)).toMatchObject({ "sqs:SendMessage": 4 });
});

it.each(["users", "Users/"])("a probe of %s is answered without a call to AWS", async (path) => {
  const calls = () => [callsOf(/^UsersReceive/), callsOf(/^OtherPathsReceive/)];
  const before = calls();
  for (const [method, status] of [
    ["GET", 200],
    ["HEAD", 200],
    ["OPTIONS", 204],
  ] as const)
    expect(await fetch(`${outputOf(stack, "WebhooksUrl")}/${path}`, { method })).toMatchObject({ status });
  expect(calls()).toEqual(before);
});

describe("a flood of wrong secrets at one kind", () => {
  /** Requests that reach the receiver; those beyond its concurrency come on top. */
  const refusedOnes = 300;
  const atOnce = 6;
  const goodOnesOfEachKind = 10;

  it("costs no message, no write and no concurrency of the rest, whose webhooks go on", async () => {
    const secret = webhookSecretOf(stack);
    await stack.drained({ deadline: 120_000 });
    const before = await stored();
    const refused = new Map<number, number>();
    const flood = Array.from({ length: atOnce }, async () => {
      while ((refused.get(401) ?? 0) < refusedOnes) {
        const status = await send("accounts", "wrong", account());
        refused.set(status, (refused.get(status) ?? 0) + 1);
      }
    });
    const others = Object.entries(bodies).map(async ([kind, body]) => {
      const statuses: number[] = [];
      for (let sent = 0; sent < goodOnesOfEachKind; sent++) statuses.push(await send(kind, secret, body()));
      return statuses;
    });
    expect((await Promise.all(others)).flat()).toEqual(Array(3 * goodOnesOfEachKind).fill(202));
    await Promise.all(flood);
    await stack.drained({ deadline: 120_000 });

    // 401, or 503 if the receiver's concurrency was used up.
    expect([...refused.keys()].sort()).toEqual([401, 503]);
    const { peak, throttles, coldStarts } = functionOf(/^AccountsReceive/).counts();
    expect(peak).toBe(reserved);
    expect(throttles).toBe(refused.get(503));
    const { "secretsmanager:GetSecretValue": secretReads, ...otherCalls } = callsOf(/^AccountsReceive/);
    expect(otherCalls).toEqual({});
    expect(secretReads).toBeLessThanOrEqual(coldStarts);
    expect(coldStarts).toBeLessThanOrEqual(reserved);
    expect(callsOf(/^AccountsStore/)).not.toHaveProperty("dynamodb:BatchExecuteStatement");
    for (const kind of ["Users", "Endpoints", "CompanyAccounts"]) {
      expect(functionOf(new RegExp(`^${kind}Receive`)).counts().throttles).toBe(0);
    }
    expect(await stored()).toBe(before + 3 * goodOnesOfEachKind);
  });
});

/**
 * Captures a webhook as the provider sends it, with everything registered for its kind, before it reaches the
 * pipeline.
 * @returns a function that sends it to a kind's path and returns the status
 */
async function captureWebhook(kind: WebhookKind, event: object): Promise<(to: string) => Promise<number>> {
  const { sandbox } = product.system;
  const registered = sandbox.webhook(kind);
  const recorder = await startTestProvider();
  try {
    recorder.answer = () => 202;
    await registerAtProvider(product.system, kind, { ...registered, url: recorder.url });
    sandbox.fireEvent(kind, event);
    await sandbox.waitUntilIdle();
  } finally {
    await registerAtProvider(product.system, kind, registered);
    await recorder.close();
  }
  const [{ method = "", body = "", headers: sent = {} } = {}] = recorder.requests;
  const headers = Object.entries(sent).flatMap(([name, value]): [string, string][] =>
    ["host", "connection", "content-length"].includes(name) ? [] : [[name, String(value)]],
  );
  return async (to) =>
    (await fetch(`${outputOf(stack, "WebhooksUrl")}/${to}`, { method, headers, body })).status;
}

describe("a webhook that was captured as the provider sent it", () => {
  it.each<WebhookKind>(["accounts", "company-accounts"])(
    "of %s is refused without storing anything on every other kind's path, and accepted on its own",
    async (kind) => {
      const before = await stored();
      // The mappings of both kinds read this field.
      const event = { ...account(), company_account_id: randomUUID() };
      const send = await captureWebhook(kind, event);
      const others = webhookKinds.filter((each) => each !== kind);
      expect(await Promise.all(others.map(send))).toEqual([401, 401, 401]);
      await stack.drained({ deadline: 120_000 });
      expect(await stored()).toBe(before);

      expect(await send(kind)).toBe(202);
      await stack.drained({ deadline: 120_000 });
      expect(await stored()).toBe(before + 1);
    },
  );
});

describe("an assembly with a custom domain, a customer's key and traces", () => {
  it("runs at its local address, and that is what is registered", () => {
    expect(outputOf(stack, "WebhooksUrl")).toBe(`${stack.apiUrl}/webhooks`);
    expect(product.system.sandbox.webhook("users")?.url).toBe(`${stack.apiUrl}/webhooks/users`);
    expect(stack.notRun).toEqual([
      expect.stringMatching(/^output WebhooksDomainTarget: /),
      expect.stringMatching(/^DomainName\w+ \(AWS::ApiGatewayV2::DomainName\)$/),
      expect.stringMatching(/^DomainMapping\w+ \(AWS::ApiGatewayV2::ApiMapping\)$/),
    ]);
  });
});

/** All actions on a queue: the calls of the SDK, whose batches need the permission of a single call. */
const actionsOfSqs = Object.keys(sqs).flatMap((name) => /^(?!.*Batch)(\w+)Command$/.exec(name)?.[1] ?? []);

describe("a subscriber's principal in another account", () => {
  const allowedOn = (queueArn: string, context = {}) =>
    actionsOfSqs.filter(
      (action) => stack.gateway.authorize(reader.name, `sqs:${action}`, queueArn, context).allowed,
    );
  beforeAll(() => {
    // Its own account allows everything with queues, so our policy decides.
    const Statement = [{ Effect: "Allow", Action: "sqs:*", Resource: "*" }];
    const policy = parsePolicy({ Version: "2012-10-17", Statement }, "their account's policy");
    stack.gateway.register({ ...reader, policies: [policy] });
  });

  it("may receive, delete, change visibility, and read the queue's attributes and URL, and nothing else", () => {
    expect(allowedOn(outputOf(stack, "SubscriberTheirsQueueArn"))).toEqual([
      "ChangeMessageVisibility",
      "DeleteMessage",
      "GetQueueAttributes",
      "GetQueueUrl",
      "ReceiveMessage",
    ]);
  });

  it("has no access without TLS, and none to any other queue", () => {
    const mine = outputOf(stack, "SubscriberTheirsQueueArn");
    expect(allowedOn(mine, { "aws:SecureTransport": "false" })).toEqual([]);
    for (const { arn } of stack.queues.values()) if (arn !== mine) expect(allowedOn(arn)).toEqual([]);
  });
});
