import { randomUUID } from "node:crypto";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { DynamoDbEngine } from "@income-events/local-stack/engines/dynamodb.ts";
import type { Fault } from "@income-events/local-stack/gateway/types.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { startStack } from "@income-events/local-stack/stack.ts";
import compressed from "../../stages/compressed.json" with { type: "json" };
import type { synthesizeProduct } from "./product-assembly.ts";
import { type ProviderAnswer, type ProviderRequest, startTestProvider } from "./test-provider.ts";

/** Resources that the tests of one run share. */
export type StackSource = {
  readonly synthesize: typeof synthesizeProduct;
  readonly engine: DynamoDbEngine;
};

export type ScriptedStack = Awaited<ReturnType<typeof startScriptedStack>>;

const secret = "the webhooks' secret";

/**
 * Starts the stage `compressed` with a provider that answers as told, and engines that fail on request. It has
 * the secret of the webhooks and a token.
 * @param changes settings that replace the stage's
 */
export async function startScriptedStack(
  changes: { readonly subscribers: readonly object[]; readonly divideDurationsBy?: number },
  { synthesize, engine }: StackSource,
) {
  await using starting = new AsyncDisposableStack();
  const product = starting.use(await synthesize("compressed", changes));
  const provider = starting.adopt(await startTestProvider(), ({ close }) => close());
  const overrides: { readonly matching: RegExp; readonly answer: ProviderAnswer }[] = [];
  provider.answer = (request) => {
    const said = `${request.method} ${request.path}`;
    return overrides.findLast(({ matching }) => matching.test(said))?.answer ?? usualAnswer(request);
  };
  const { divideDurationsBy } = { ...compressed, ...changes };
  const stack = starting.adopt(
    await startStack({
      assembly: product.directory,
      parameters: { ProviderBaseUrl: provider.url },
      maximumProcesses: 2,
      deduplicationSeconds: 300 / divideDurationsBy,
      engine,
    }),
    ({ close }) => close(),
  );
  const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
  const sqs = starting.adopt(new SQSClient(access), (client) => client.destroy());
  const output = (name: string) => outputOf(stack, name);
  const functionOf = (logicalId: RegExp) => {
    const found = stack.functions.find((each) => logicalId.test(each.logicalId));
    if (found === undefined) throw new Error(`The stack has no function ${logicalId}`);
    return found;
  };
  /** Sets a token that was issued `ago` seconds before now and lives this many seconds. */
  const setToken = (seconds: number, ago = 60) =>
    stack.setSecret(output("TokenSecretArn"), JSON.stringify({ token: makeToken(seconds, ago) }));
  await stack.setSecret(output("WebhookSecretArn"), JSON.stringify({ current: secret }));
  await setToken(7_200);
  const cleanup = starting.move();
  return {
    stack,
    provider,
    access,
    sqs,
    output,
    functionOf,
    setToken,
    /** Sends a webhook, by default with the right secret; returns the status. */
    send: async (kind: string, body: object | string, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(`${output("WebhooksUrl")}/${kind}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-webhook-secret": secret, ...headers },
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      });
      await answer.arrayBuffer();
      return answer.status;
    },
    /** Sets the provider's answer to matching calls (method and path); returns a function that removes it. */
    answers: (matching: RegExp, answer: ProviderAnswer) => {
      const override = { matching, answer };
      overrides.push(override);
      return () => void overrides.splice(overrides.indexOf(override), 1);
    },
    /** Applies a fault to a function's calls to AWS; returns a function that removes it. */
    meets: (functionId: RegExp, actions: readonly string[], fault: Fault | "hang") => {
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
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
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
  if (/(accounts|users)\/[^/]+$/.test(path)) return { json: { connected: true } };
  return { json: { data: [], next: null } };
}
