import type { EventType } from "../event/events.ts";

/** Message types without an event: the provider confirmed a state, or fetched data is new. */
export const answerTypes = [
  "user.confirmed",
  "account.confirmed",
  "company-account.confirmed",
  "data.updated",
] as const;
/** Message types without an event: everything that `readiness` waits for has arrived, or has not in time, or nothing new arrives. */
export const readinessTypes = ["account.ready", "account.incomplete", "user.ready", "account.stale"] as const;
/** Message types that tell readers to erase a subject, too, because all of its stored data was erased. */
export const erasureTypes = ["user.erased", "account.erased", "company-account.erased"] as const;
/** An operator sends `subscriber.test` to test a subscriber. */
export type MessageType =
  | EventType
  | (typeof answerTypes)[number]
  | (typeof readinessTypes)[number]
  | (typeof erasureTypes)[number]
  | "subscriber.test";
