import { randomUUID } from "node:crypto";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDbEngine } from "@income-events/local-stack/engines/dynamodb.ts";
import type { Fault } from "@income-events/local-stack/gateway/types.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import {
  type ProviderAnswer,
  type ProviderRequest,
  startTestProvider,
} from "@income-events/local-stack/provider.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { synthesizeProduct } from "../../scripts/product-assembly.ts";
import compressed from "../../stages/compressed.json" with { type: "json" };

/** The synthesized stack with a provider and engines that fail on request. */
export type AlarmStack = AsyncDisposable & {
  readonly stack: LocalStack;
  readonly sqs: SQSClient;
  readonly output: (name: string) => string;
  readonly functionOf: (logicalId: RegExp) => LocalStack["functions"][number];
  /** Sends a webhook, by default with the right secret; returns the status. */
  readonly send: (kind: string, body: object | string, secret?: string) => Promise<number>;
  /** Sets the provider's answer to matching calls (method and path); returns a function that removes it. */
  readonly answers: (matching: RegExp, answer: ProviderAnswer) => () => void;
  /** Applies a fault to a function's calls to AWS; returns a function that removes it. */
  readonly meets: (functionId: RegExp, actions: readonly string[], fault: Fault | "hang") => () => void;
  /** Sets a token that was issued `ago` seconds before now and lives this many seconds. */
  readonly setToken: (seconds: number, ago?: number) => Promise<void>;
};

/** Tests share their run's assemblies and engine. */
export type StackSource = {
  readonly synthesize?: typeof synthesizeProduct;
  readonly engine?: DynamoDbEngine;
};

const secret = "the webhooks' secret";

export async function startAlarmStack(
  onProgress: (step: string) => void,
  { synthesize = synthesizeProduct, ...engine }: StackSource = {},
): Promise<AlarmStack> {
  await using cleanup = new AsyncDisposableStack();
  onProgress("Synthesizing the stack of the stage compressed");
  const product = cleanup.use(await synthesize("compressed", alarmSettings));
  const provider = cleanup.adopt(await startTestProvider(), ({ close }) => close());
  const overrides: { readonly matching: RegExp; readonly answer: ProviderAnswer }[] = [];
  provider.answer = (request) => {
    const said = `${request.method} ${request.path}`;
    return overrides.findLast(({ matching }) => matching.test(said))?.answer ?? usualAnswer(request);
  };
  const stack = cleanup.adopt(
    await startStack({
      assembly: product.directory,
      parameters: { ProviderBaseUrl: provider.url },
      maximumProcesses: 2,
      ...engine,
      deduplicationSeconds: 300 / alarmSettings.divideDurationsBy,
      onProgress,
    }),
    ({ close }) => close(),
  );
  const { gatewayUrl: endpoint, region, operator: credentials } = stack;
  const sqs = cleanup.adopt(new SQSClient({ endpoint, region, credentials }), (client) => client.destroy());
  const output = (name: string) => outputOf(stack, name);
  const functionOf: AlarmStack["functionOf"] = (logicalId) => {
    const found = stack.functions.find((each) => logicalId.test(each.logicalId));
    if (found === undefined) throw new Error(`The stack has no function ${logicalId}`);
    return found;
  };
  const setToken: AlarmStack["setToken"] = (seconds, ago = 60) =>
    stack.setSecret(output("TokenSecretArn"), JSON.stringify({ token: makeToken(seconds, ago) }));
  await stack.setSecret(output("WebhookSecretArn"), JSON.stringify({ current: secret }));
  await setToken(7_200);
  const owned = cleanup.move();
  return {
    stack,
    sqs,
    output,
    functionOf,
    setToken,
    send: async (kind, body, given = secret) => {
      const answer = await fetch(`${output("WebhooksUrl")}/${kind}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-webhook-secret": given },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      await answer.arrayBuffer();
      return answer.status;
    },
    answers: (matching, answer) => {
      const override = { matching, answer };
      overrides.push(override);
      return () => void overrides.splice(overrides.indexOf(override), 1);
    },
    meets: (functionId, actions, fault) => {
      const { name } = functionOf(functionId);
      return stack.gateway.intercept(async ({ principal, action }, phase) =>
        // Receive calls that are already waiting must not return messages either.
        (phase === "before" || action === "sqs:ReceiveMessage") &&
        principal === name &&
        actions.includes(action)
          ? fault
          : undefined,
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Creates a token in the provider's format; nothing here checks its signature. */
export function makeToken(seconds: number, ago = 0): string {
  const iat = Math.floor(Date.now() / 1_000) - ago;
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ iat, exp: iat + seconds, jti: randomUUID() })}.none`;
}

/** A working provider: accepts everything, knows every account, and lists no users. */
function usualAnswer({ method, path }: ProviderRequest): ProviderAnswer {
  if (method !== "GET") return { status: 202, json: {} };
  if (/\/(accounts|users)\/[^/]+$/.test(path)) return { json: { connected: true } };
  return { json: { data: [], next: null } };
}

/**
 * Settings of the stage `compressed`, with days of nine seconds and low limits, so that hours of an alarm
 * take seconds. Limits that alarms derive from time-outs and rates follow.
 */
const alarmSettings = {
  provider: {
    ...compressed.provider,
    paths: { ...compressed.provider.paths, userAccounts: "/api/v0.4/users/{user_id}/accounts" },
    requestsPerMinute: 60,
  },
  divideDurationsBy: 10_000,
  accountConcurrency: 200,
  subscribers: [
    { name: "reader", retentionDays: 1 },
    {
      name: "limited",
      retentionDays: 1,
      types: ["company-account.deleted"],
      principals: ["arn:aws:iam::000000000000:role/limited"],
    },
  ],
  webhooks: { throttle: { requestsPerSecond: 1, burst: 50 } },
  functions: {
    receive: { reservedConcurrency: 1 },
    store: { timeoutSeconds: 5 },
    fetch: { timeoutSeconds: 10 },
    relay: { timeoutSeconds: 4 },
    erase: { timeoutSeconds: 5 },
    archive: { timeoutSeconds: 10 },
  },
  relay: { retryAttempts: 2 },
  fetch: { maxConcurrency: 2, longestOutageHours: 240 },
  readiness: { endpoints: ["income"] },
  reconcile: { everyHours: 1, maxDeletions: { percent: 5, atLeast: 2 } },
  archive: { beforeEndHours: 336 },
  canary: { withinSeconds: 15 },
  alarms: {
    nothingReceivedHours: 1,
    refusedPerHour: 20,
    reconciliationDrift: 3,
    emails: ["on-call@example.com"],
  },
};
