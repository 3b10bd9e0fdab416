import type { IncomeEvent } from "../event/events.ts";
import { claimOf, type LastChange, type Outcome } from "./last-change.ts";
import type { State } from "./state.ts";

/**
 * Rebuilds a message that a record has already published. It has the event's id and content with the record's
 * current `sequence` and state, so that the order by `sequence` stays right.
 */

/** The state with an event that it has processed as its last change. */
export function replayState(state: State, event: IncomeEvent): State {
  return isLatest(state.latest, event)
    ? state
    : { ...state, latest: { cause: "event", event, outcome: outcomeNow(state, event) } };
}

export function isLatest(latest: LastChange, event: IncomeEvent): boolean {
  return latest.cause === "event" && latest.event.id === event.id;
}

/** The outcome of an old event against the current state: `agreed` if its claim still holds. */
function outcomeNow(state: State, event: IncomeEvent): Outcome {
  if (state.unconfirmed) return "unconfirmed";
  const { deleted, connected = state.connected } = claimOf(event);
  return deleted === state.deleted && connected === state.connected ? "agreed" : "stale";
}
