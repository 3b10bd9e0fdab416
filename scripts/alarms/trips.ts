import type { Trip } from "./trip.ts";
import { providerDown, refreshFailing, tokenTrips, upkeepTrips } from "./trips-provider.ts";
import {
  archivingFailing,
  deadLetterTrips,
  fetchingBehind,
  relayTrips,
  stalledTrips,
  subscriberDeadLetters,
} from "./trips-queues.ts";
import { eventsLate, nothingReceived, receivingTrips, subscriberBehind } from "./trips-receiving.ts";

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
