import { providerDown, refreshFailing, tokenTrips, upkeepTrips } from "./provider-scenarios.ts";
import {
  archivingFailing,
  deadLetterTrips,
  fetchingBehind,
  relayTrips,
  stalledTrips,
  subscriberDeadLetters,
} from "./queue-scenarios.ts";
import { eventsLate, nothingReceived, receivingTrips, subscriberBehind } from "./receiving-scenarios.ts";
import type { Trip } from "./scenario.ts";

/** All, in an order in which none makes another's condition before its turn. */
export const trips: readonly Trip[] = [
  subscriberBehind,
  // Before events that fail for a while: on a busy machine those are late, too.
  eventsLate,
  ...deadLetterTrips,
  ...receivingTrips,
  providerDown,
  subscriberDeadLetters,
  archivingFailing,
  refreshFailing,
  ...stalledTrips,
  ...relayTrips,
  ...tokenTrips,
  ...upkeepTrips,
  fetchingBehind,
  nothingReceived,
];
