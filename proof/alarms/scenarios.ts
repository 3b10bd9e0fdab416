import { providerScenarios } from "./provider-scenarios.ts";
import { queueScenarios } from "./queue-scenarios.ts";
import { receivingScenarios } from "./receiving-scenarios.ts";
import type { Condition } from "./scenario.ts";

/** A condition with the alarm's runbook entry. */
export type AlarmScenario = Condition & { readonly entry: string };

const conditions = { ...receivingScenarios, ...queueScenarios, ...providerScenarios };

/** An order in which no scenario creates another's condition before its turn. */
const order: readonly (keyof typeof conditions)[] = [
  // First, because others also stop its webhooks.
  "canary-missing",
  "subscriber-behind",
  // Before events that fail for a while: on a busy machine those are late too.
  "events-late",
  ...(["fetching-dead-letters", "erasure-dead-letters", "deadline-dead-letters"] as const),
  "deadlines-behind",
  // Before calls that fail for a while: their tasks wait in the same queue and keep their age.
  "fetching-late",
  ...(["webhooks-refused", "webhooks-failing", "functions-throttled", "webhooks-throttled"] as const),
  "events-dead-letters",
  "provider-down",
  "subscriber-dead-letters",
  ...(["reads-refused", "reads-failing"] as const),
  ...(["archiving-failing", "token-refresh-failing", "events-failing", "fetching-failing"] as const),
  ...(["erasure-failing", "erasure-late"] as const),
  ...(["relay-behind", "undelivered-changes", "relay-failing"] as const),
  ...(["token-at-risk", "token-missing"] as const),
  ...(["registration-failing", "webhooks-missed", "reconciliation-incomplete"] as const),
  ...(["reconciliation-failing", "deletions-held", "relay-stopped"] as const),
  ...(["fetching-behind", "nothing-received"] as const),
];

export const scenarios: readonly AlarmScenario[] = order.map((entry) => ({ entry, ...conditions[entry] }));
