import type { EventType } from "../event/events.ts";

/** Types of messages that no event has: the provider confirmed a state, or data was fetched that is new. */
export const answerTypes = [
  "user.confirmed",
  "account.confirmed",
  "company-account.confirmed",
  "data.updated",
] as const;
/** Types of messages that no event has either: all that the stage's `readiness` waits for is there, or was not in time. */
export const readinessTypes = ["account.ready", "account.incomplete"] as const;
/** Types of messages that ask readers to forget, too: all that was kept of the subject is erased. */
export const erasureTypes = ["user.erased", "account.erased", "company-account.erased"] as const;
/** `subscriber.test` is what an operator sends to try a subscriber. */
export type MessageType =
  | EventType
  | (typeof answerTypes)[number]
  | (typeof readinessTypes)[number]
  | (typeof erasureTypes)[number]
  | "subscriber.test";

/** Names a stage in its messages: CloudEvents' `source`. */
export function messageSource(stage: string): string {
  return `/income-events/${stage}`;
}
