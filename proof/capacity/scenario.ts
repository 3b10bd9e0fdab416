import { longestCallInSeconds } from "../../domain/fetch/provider-settings.ts";
import type { Settings } from "../../lib/settings/settings.ts";
import { longestDelayInSeconds, mostInFlight, queuePolling } from "./lambda-scaling.ts";
import type { Scenario } from "./model/simulate.ts";

/** How long the functions take, in seconds. */
export type Durations = {
  readonly storeBatch: number;
  /** A batch of the fetch whose tasks call the provider, and one whose tasks only learn that they must wait. */
  readonly fetchBatch: number;
  readonly waitingBatch: number;
  readonly relay: number;
};

/** What happens. */
export type LoadProfile = {
  readonly deliveriesPerSecond: (seconds: number) => number;
  readonly tasksPerDelivery: number;
  readonly isProviderDown: (seconds: number) => boolean;
  readonly seconds: number;
};

/** Functions of one kind that the account's quota leaves room for beside the others; see `quotas.json`. */
export type Room = { readonly concurrency: number; readonly shareOfBusiestRoute: number };

/**
 * Longer than this is sent again, not hidden, and a message is hidden so often in a row:
 * functions/fetch/retry-decision.ts.
 */
const hiding = { longestHiddenSeconds: 60, hiddenInARow: 2 };
/** The specification says that the provider tries again, not when. */
const providerRetrySeconds = 300;
const queueBatch = 10;

/** A scenario that happens to a stage with these settings. */
export function scenarioOf(
  settings: Settings,
  durations: Durations,
  room: Room,
  profile: LoadProfile,
): Scenario {
  const { provider, fetch, webhooks } = settings;
  const { requestsPerSecond, burst } = webhooks.throttle;
  const most = Math.min(queuePolling.most, room.concurrency);
  return {
    store: {
      ...queuePolling,
      most,
      batchSize: queueBatch,
      secondsPerBatch: durations.storeBatch,
      throttle: {
        // Each route has its own; the busiest gets this share of all deliveries.
        perSecond: requestsPerSecond / room.shareOfBusiestRoute,
        burst: burst / room.shareOfBusiestRoute,
      },
      retrySeconds: providerRetrySeconds,
      inFlightLimit: mostInFlight,
    },
    fetch: {
      ...queuePolling,
      ...hiding,
      most: Math.min(fetch.maxConcurrency, most),
      batchSize: queueBatch,
      secondsPerCall: durations.fetchBatch,
      secondsWithoutCall: durations.waitingBatch,
      inFlightLimit: mostInFlight,
      longestDelaySeconds: Math.min(longestDelayInSeconds, fetch.retry.maxSeconds),
    },
    provider: {
      requestsPerMinute: provider.requestsPerMinute,
      breaker: provider.breaker,
      secondsPerCall: durations.fetchBatch,
      leaseSeconds: longestCallInSeconds(provider),
      isDown: profile.isProviderDown,
    },
    deliveriesPerSecond: profile.deliveriesPerSecond,
    tasksPerDelivery: profile.tasksPerDelivery,
    relaySeconds: durations.relay,
    stepSeconds: 0.1,
    lookEvery: 10,
    seconds: profile.seconds,
    seed: 1,
  };
}
