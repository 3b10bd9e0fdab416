import { providerDown, refreshFailing, tokenScenarios, upkeepScenarios } from "./provider-scenarios.ts";
import {
  archivingFailing,
  deadLetterScenarios,
  deadlinesBehind,
  erasureFailing,
  erasureLate,
  fetchingBehind,
  fetchingFailing,
  fetchingLate,
  readsFailing,
  readsRefused,
  relayScenarios,
  subscriberDeadLetters,
} from "./queue-scenarios.ts";
import {
  canaryMissing,
  eventsFailing,
  eventsLate,
  nothingReceived,
  receivingScenarios,
  subscriberBehind,
} from "./receiving-scenarios.ts";
import type { AlarmScenario } from "./scenario.ts";

/** All scenarios, in an order in which none creates another's condition before its turn. */
export const scenarios: readonly AlarmScenario[] = [
  // First, because others also stop its webhooks.
  canaryMissing,
  subscriberBehind,
  // Before events that fail for a while: on a busy machine those are late too.
  eventsLate,
  ...deadLetterScenarios,
  deadlinesBehind,
  // Before calls that fail for a while: their tasks wait in the same queue and keep their age.
  fetchingLate,
  ...receivingScenarios,
  providerDown,
  subscriberDeadLetters,
  readsRefused,
  readsFailing,
  archivingFailing,
  refreshFailing,
  eventsFailing,
  fetchingFailing,
  erasureFailing,
  erasureLate,
  ...relayScenarios,
  ...tokenScenarios,
  ...upkeepScenarios,
  fetchingBehind,
  nothingReceived,
];
