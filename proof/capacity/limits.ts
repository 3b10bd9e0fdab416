import { windowsOf } from "../../domain/fetch/pacing.ts";
import type { Settings } from "../../lib/settings/settings.ts";
import type { Demands } from "./demands.ts";
import { readQuotas } from "./quotas.ts";

/** Something that ends before events do. */
export type Limit = {
  readonly name: string;
  /** What there is of it. */
  readonly value: number;
  readonly unit: string;
  /** At how many events a second it is used up. */
  readonly eventsPerSecond: number;
  readonly by: "setting" | "quota, raised on request" | "fixed" | "our design";
  readonly remedy: string;
};

/** A new table on demand has four partitions, and gets one more for each thousand write units. */
const leastPartitions = 4;

/** All of them, the first to end first. */
export function limitsOf(settings: Settings, demands: Demands): readonly Limit[] {
  const limits = [
    ...settingLimits(settings, demands),
    ...accountLimits(demands),
    ...streamAndQueueLimits(demands),
  ];
  return limits.toSorted((one, other) => one.eventsPerSecond - other.eventsPerSecond);
}

/** What the stage sets. */
function settingLimits(settings: Settings, { invocations, seconds, ...demands }: Demands): readonly Limit[] {
  const perMinute = callsPerMinuteWithin(settings.provider.requestsPerMinute);
  const fetchBatches = invocations.fetch * seconds.fetch;
  return [
    {
      name: "the provider's rate, `provider.requestsPerMinute`",
      value: settings.provider.requestsPerMinute,
      unit: `calls a minute, of which ${perMinute} are used`,
      eventsPerSecond: perMinute / 60 / demands.tasks,
      by: "setting",
      remedy:
        "agree on a higher rate with the provider and set it; events are stored and sent meanwhile, their data waits",
    },
    {
      name: "a route's throttle, `webhooks.throttle.requestsPerSecond`",
      value: settings.webhooks.throttle.requestsPerSecond,
      unit: "requests a second of the busiest route",
      eventsPerSecond: settings.webhooks.throttle.requestsPerSecond / demands.deliveriesOfBusiestRoute,
      by: "setting",
      remedy: "raise the setting, up to the account's quota; what is refused the provider sends again",
    },
    {
      name: "batches of the fetch, `fetch.maxConcurrency`",
      value: settings.fetch.maxConcurrency,
      unit: "batches at once",
      eventsPerSecond: settings.fetch.maxConcurrency / fetchBatches,
      by: "setting",
      remedy: "raise the setting, up to 1,000, with the provider's rate",
    },
  ];
}

/** What AWS allows the account, of all functions and of the table. */
function accountLimits({ invocations, seconds, ...demands }: Demands): readonly Limit[] {
  const { quotas } = readQuotas();
  const concurrency =
    invocations.receive * seconds.receive +
    invocations.store * seconds.store +
    invocations.relay * seconds.relay +
    invocations.fetch * seconds.fetch;
  return [
    {
      name: quotas.newAccountConcurrency.name,
      value: quotas.newAccountConcurrency.value,
      unit: "at once, of all functions",
      eventsPerSecond: quotas.newAccountConcurrency.value / concurrency,
      by: "quota, raised on request",
      remedy: "ask for 1,000 and set `accountConcurrency`; then reserve some for the receivers",
    },
    {
      name: quotas.concurrency.name,
      value: quotas.concurrency.value,
      unit: "at once, of all functions",
      eventsPerSecond: quotas.concurrency.value / concurrency,
      by: "quota, raised on request",
      remedy: "ask for tens of thousands; AWS looks at the account's use first",
    },
    {
      name: "Lambda: invocations a second, ten times the concurrency",
      value: quotas.concurrency.value * quotas.invocationsPerConcurrency.value,
      unit: "invocations a second",
      eventsPerSecond:
        (quotas.concurrency.value * quotas.invocationsPerConcurrency.value) / invocations.receive,
      by: "quota, raised on request",
      remedy: "rises with the concurrency: ask for that",
    },
    {
      name: quotas.apiRequests.name,
      value: quotas.apiRequests.value,
      unit: "requests a second",
      eventsPerSecond: quotas.apiRequests.value / demands.deliveries,
      by: "quota, raised on request",
      remedy: "ask for more; it is shared with all APIs of the account and region (2,500 in some regions)",
    },
    {
      name: quotas.newTableWrites.name,
      value: quotas.newTableWrites.value,
      unit: "write units a second",
      eventsPerSecond: quotas.newTableWrites.value / demands.writeUnits,
      by: "quota, raised on request",
      remedy:
        "grow over hours, or warm the table's throughput before a launch; what is throttled waits in its queue",
    },
    {
      name: quotas.tableWrites.name,
      value: quotas.tableWrites.value,
      unit: "write units a second",
      eventsPerSecond: quotas.tableWrites.value / demands.writeUnits,
      by: "quota, raised on request",
      remedy: "ask for more; keys spread over users and accounts, see below",
    },
    {
      name: quotas.tableReads.name,
      value: quotas.tableReads.value,
      unit: "read units a second",
      eventsPerSecond: quotas.tableReads.value / demands.readUnits,
      by: "quota, raised on request",
      remedy: "ask for more",
    },
  ];
}

/** What one shard, one queue and one partition key take. */
function streamAndQueueLimits(demands: Demands): readonly Limit[] {
  const { quotas } = readQuotas();
  const { invocations, seconds } = demands;
  const storeBatches = invocations.store * demands.shareOfBusiestRoute * seconds.store;
  return [
    {
      name: "the relay: one batch at a time for each shard of the stream",
      value: leastPartitions,
      unit: "shards at least, more with the table's partitions",
      eventsPerSecond: relayLimit(demands, quotas.partitionWrites.value),
      by: "our design",
      remedy:
        "raise `functions.relay.memoryMb`, which brings more of a processor; beyond that `ParallelizationFactor` (up to 10) on the stream's event source, which keeps the order of each partition key and is no setting yet",
    },
    {
      name: quotas.queueSourceBatches.name,
      value: quotas.queueSourceBatches.value,
      unit: "batches of the busiest queue",
      eventsPerSecond: quotas.queueSourceBatches.value / storeBatches,
      by: "fixed",
      remedy: "provisioned pollers, which the stack does not set, or more queues for the busiest kind",
    },
    {
      name: "the provider's partition: one counter for all callers",
      value: quotas.partitionWrites.value,
      unit: "write units a second",
      // A batch of the fetch leases its calls as one batch.
      eventsPerSecond: quotas.partitionWrites.value / invocations.fetch,
      by: "our design",
      remedy:
        "split the windows' counter over several partition keys: another design of adapters/provider/rate-limiter.ts",
    },
  ];
}

/** What the windows let through in a minute. */
function callsPerMinuteWithin(requestsPerMinute: number): number {
  const { callsPerWindow, windowInSeconds } = windowsOf(requestsPerMinute);
  return Math.floor((callsPerWindow * 60) / windowInSeconds);
}

/**
 * Partitions grow with the writes, and shards with them: where a full one is no more than its relay can do, none ends.
 */
function relayLimit({ invocations, seconds, writeUnits }: Demands, unitsPerPartition: number): number {
  const secondsPerEvent = invocations.relay * seconds.relay;
  const eventsPerPartition = unitsPerPartition / writeUnits;
  return eventsPerPartition * secondsPerEvent <= 1
    ? Number.POSITIVE_INFINITY
    : leastPartitions / secondsPerEvent;
}
