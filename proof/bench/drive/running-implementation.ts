import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { SQSClient } from "@aws-sdk/client-sqs";
import { type Delay, realDelay } from "@income-events/local-stack/lambda/delay.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { type EventFilter, parseEventFilter } from "@income-events/local-stack/sources/event-filter.ts";
import { startStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";
import { type AssembleOptions, assemble } from "../assemble.ts";
import type { Implementation } from "../implementations.ts";
import type { BenchProvider } from "../provider.ts";
import { readChanges } from "./changes.ts";
import { countRequests } from "./queues.ts";

export const webhookSecret = "bench-secret";

export type RunningImplementation = Awaited<ReturnType<typeof startImplementation>>;

export type ImplementationOptions = AssembleOptions & {
  /** Maximum processes of each function. */
  readonly processes?: number;
  /** Whether the run writes very much: the fast-starting engine slows down with each change in its stream. */
  readonly keepsMuch?: boolean;
};

/** Runs an implementation on this machine with its own engines. */
export async function startImplementation(
  implementation: Implementation,
  { baseUrl }: Pick<BenchProvider, "baseUrl">,
  { processes = 1, keepsMuch = false, ...options }: ImplementationOptions = {},
) {
  await using starting = new AsyncDisposableStack();
  const { directory, memoryMb } = await assemble(implementation, options);
  const { hasEventSources = false } = options;
  const stack = await startStack({
    assembly: directory,
    parameters: { ProviderBaseUrl: baseUrl },
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
  const streamArn = stack.tables.find((table) => table.streamArn !== undefined)?.streamArn ?? "";
  const cleanup = starting.move();
  return {
    implementation,
    stack,
    access,
    sqs,
    memoryMb,
    /** Billed requests of its functions to SQS so far. */
    queueRequests: countRequests(stack.gateway),
    changes: readChanges(streams, streamArn, stack.region, filterOf(directory)),
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

const template = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Properties: z
        .object({ FilterCriteria: z.object({ Filters: z.array(z.object({ Pattern: z.string() })) }) })
        .partial()
        .loose()
        .optional(),
    }),
  ),
});

/** The synthesized filter of the stream's event source. */
function filterOf(assembly: string): EventFilter {
  const file = readdirSync(assembly).find((name) => name.endsWith(".template.json")) ?? "";
  const { Resources } = template.parse(JSON.parse(readFileSync(join(assembly, file), "utf8")));
  const patterns = Object.values(Resources).flatMap(
    ({ Properties }) => Properties?.FilterCriteria?.Filters.map(({ Pattern }) => Pattern) ?? [],
  );
  const filters = patterns.map(parseEventFilter);
  return (record) => filters.some((isTaken) => isTaken(record));
}
