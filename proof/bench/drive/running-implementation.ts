import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { SQSClient } from "@aws-sdk/client-sqs";
import { type Delay, realDelay } from "@income-events/local-stack/lambda/delay.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { startStack } from "@income-events/local-stack/stack.ts";
import { type AssembleOptions, assemble } from "../assemble.ts";
import type { Implementation } from "../implementations.ts";
import { type Answers, type FaultAt, startProvider } from "../provider.ts";
import { readChanges } from "./changes.ts";
import { countRequests } from "./queues.ts";

export const webhookSecret = "bench-secret";

export type RunningImplementation = Awaited<ReturnType<typeof startImplementation>>;

export type ImplementationOptions = AssembleOptions & {
  /** Maximum processes of each function. */
  readonly processes?: number;
  /** Whether the run writes very much: the fast-starting engine slows down with each change in its stream. */
  readonly keepsMuch?: boolean;
  /** Answers of its provider; absent: the default ones. */
  readonly answers?: Answers;
  readonly faultAt?: FaultAt;
};

/** Runs an implementation on this machine with its own engines and provider. */
export async function startImplementation(
  implementation: Implementation,
  { processes = 1, keepsMuch = false, answers, faultAt, ...options }: ImplementationOptions = {},
) {
  await using starting = new AsyncDisposableStack();
  const provider = starting.use(await startProvider(faultAt, answers));
  const { directory } = await assemble(implementation, options);
  const { hasEventSources = false } = options;
  const stack = await startStack({
    assembly: directory,
    parameters: { ProviderBaseUrl: provider.baseUrl },
    ...(keepsMuch ? {} : { engine: "dynoxide" }),
    countsCapacity: !hasEventSources,
    maximumProcesses: processes,
    delay: hasEventSources ? realDelay : never,
  });
  starting.defer(() => stack.close());
  await stack.setSecret(outputOf(stack, "TokenSecretArn"), JSON.stringify({ token: "bench-token" }));
  await stack.setSecret(outputOf(stack, "WebhookSecretArn"), JSON.stringify({ current: webhookSecret }));
  const access = { endpoint: stack.gatewayUrl, region: stack.region, credentials: stack.operator };
  const sqs = starting.adopt(new SQSClient(access), (client) => client.destroy());
  const streams = starting.adopt(new DynamoDBStreamsClient(access), (client) => client.destroy());
  const source = stack.eventSources.find((each) => each.kind === "stream");
  if (source === undefined) throw new Error(`${implementation} reads no stream`);
  const cleanup = starting.move();
  return {
    implementation,
    stack,
    provider,
    access,
    sqs,
    /** Billed requests of its functions to SQS so far. */
    queueRequests: countRequests(stack.gateway),
    changes: readChanges(streams, source, stack.region),
    /** Returns a function by the start of its logical id, such as `UsersStore`. */
    function: (name: string) => {
      const found = stack.functions.find(({ logicalId }) => logicalId.startsWith(name));
      if (found === undefined) throw new Error(`no function's logical id begins with ${name}`);
      return found;
    },
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}

/** Keeps schedules from running. */
const never: Delay = (_, signal) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
