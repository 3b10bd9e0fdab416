import type { IncomeEvent } from "../event/events.ts";
import { claimOf } from "./claim.ts";
import type { LastChange, Outcome } from "./last-change.ts";
import type { State } from "./state.ts";

/**
 * Replays what a record announced before. The message has the id and the words of the event, and the
 * `sequence` and the state of the record as it stands now: so the order by `sequence` stays right.
 */

/** The state, with an event that it has processed as its last change. */
export function replayState(state: State, event: IncomeEvent): State {
  return isLatest(state.latest, event)
    ? state
    : { ...state, latest: { cause: "event", event, outcome: outcomeNow(state, event) } };
}

export function isLatest(latest: LastChange, event: IncomeEvent): boolean {
  return latest.cause === "event" && latest.event.id === event.id;
}

/** How an event that was processed long ago stands to what is known now: `agreed` where what it says is so. */
function outcomeNow(state: State, event: IncomeEvent): Outcome {
  if (state.unconfirmed) return "unconfirmed";
  const { deleted, connected = state.connected } = claimOf(event);
  return deleted === state.deleted && connected === state.connected ? "agreed" : "stale";
}
