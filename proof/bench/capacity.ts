import { windowsOf } from "../../domain/fetch/call-limits.ts";
import type { Settings } from "../../lib/settings/settings.ts";
import { type Part, sumOfParts } from "./implementations.ts";
import { secondsOf } from "./price/bill.ts";
import type { Counts } from "./price/counts.ts";

type LimitType = "setting" | "raised on request" | "fixed" | "design";

const aws = "https://docs.aws.amazon.com";
const quotas = {
  lambda: `[Lambda](${aws}/lambda/latest/dg/lambda-concurrency.html)`,
  queues: `[Lambda](${aws}/lambda/latest/dg/services-sqs-scaling.html)`,
  api: `[API Gateway](${aws}/apigateway/latest/developerguide/limits.html)`,
  table: `[DynamoDB](${aws}/amazondynamodb/latest/developerguide/Limits.html)`,
  newTable: `[DynamoDB](${aws}/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html)`,
  partition: "[DynamoDB](https://repost.aws/knowledge-center/on-demand-table-throttling-dynamodb)",
};
/** Date at which the quotas were looked up, in possibly older copies of the pages. */
export const quotasDate = "2026-11-21";
const partitionWrites = 1_000;
const newTableWrites = 4_000;
/** A new on-demand table has four partitions, and gets another for each thousand write units. */
const leastShards = 4;

/**
 * Lists all limits with full batches, lowest first.
 * @param counts of our implementation
 * @param busiestShare share of all deliveries that the busiest kind of webhook has
 */
export function limitsOf(settings: Settings, counts: Counts, busiestShare: number) {
  const per = (count: number) => count / counts.events;
  const seconds = (part: Part) => per(secondsOf(counts, part));
  const [writes, reads, deliveries] = [per(counts.writeUnits), per(counts.readUnits), per(counts.deliveries)];
  const [all, calls] = [sumOfParts(seconds), per(counts.providerCalls)];
  const { webhooks, fetch, provider } = settings;
  const { callsPerWindow, windowInSeconds } = windowsOf(provider.requestsPerMinute);
  const callsPerMinute = Math.round((callsPerWindow * 60) / windowInSeconds);
  // Shards grow with the table's partitions, so they are no limit if the relay keeps up with a full
  // partition.
  const keepsUp = (partitionWrites / writes) * seconds("relay") <= 1;
  const shards = keepsUp ? Number.POSITIVE_INFINITY : leastShards;
  /** Name, available amount, unit, and amount per event. */
  const lines: readonly (readonly [LimitType, string, number, string, number])[] = [
    ["setting", "`provider.requestsPerMinute`", callsPerMinute / 60, "calls a second", calls],
    [
      "setting",
      "`webhooks.throttle.requestsPerSecond`",
      webhooks.throttle.requestsPerSecond,
      "requests of the busiest route",
      deliveries * busiestShare,
    ],
    ["setting", "`fetch.maxConcurrency`", fetch.maxConcurrency, "batches at once", seconds("fetch")],
    ["raised on request", `${quotas.lambda}: new account`, 10, "executions at once", all],
    ["raised on request", `${quotas.lambda}: concurrency`, 1_000, "executions at once", all],
    [
      "raised on request",
      `${quotas.lambda}: invocations`,
      10_000,
      "a second",
      per(counts.receiveInvocations),
    ],
    ["raised on request", `${quotas.api}: requests`, 10_000, "a second", deliveries],
    ["raised on request", `${quotas.newTable}: writes, new table`, newTableWrites, "units a second", writes],
    ["raised on request", `${quotas.table}: writes`, 40_000, "units a second", writes],
    ["raised on request", `${quotas.table}: reads`, 40_000, "units a second", reads],
    ["design", "relay: a batch at a time for each shard", shards, "shards at least", seconds("relay")],
    ["fixed", `${quotas.queues}: busiest queue`, 1_250, "batches at once", seconds("store") * busiestShare],
    // A batch of the fetch leases its calls with one write.
    [
      "design",
      `${quotas.partition}: the counter of calls to the provider`,
      partitionWrites,
      "write units a second",
      per(counts.fetchInvocations),
    ],
  ];
  return lines
    .map(([type, name, value, unit, perEvent]) => ({
      type,
      name,
      value: `${value.toLocaleString("en")} ${unit}`,
      /** Rate at which the limit is reached. */
      eventsPerSecond: value / perEvent,
    }))
    .filter(({ eventsPerSecond }) => Number.isFinite(eventsPerSecond))
    .toSorted((one, other) => one.eventsPerSecond - other.eventsPerSecond);
}
