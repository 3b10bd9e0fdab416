import type { IncomeEvent } from "../event/events.ts";
import type { Receipts } from "../event/receipts.ts";
import type { DocumentRecord } from "../fetch/document.ts";
import { correlationOf } from "./last-change.ts";
import type { State } from "./state.ts";

/** One change of the table, as its stream announces it. An event had been received `countBefore` times before it. */
export type Change =
  | {
      readonly of: "event";
      readonly event: IncomeEvent;
      readonly receipts: Receipts;
      readonly countBefore: number;
    }
  | { readonly of: "state"; readonly before: State | undefined; readonly after: State }
  | { readonly of: "data"; readonly before: DocumentRecord | undefined; readonly after: DocumentRecord };

/** The id of what led to a change; see `correlationOf`. */
export function correlationOfChange(change: Change): string | undefined {
  return change.of === "event" ? change.event.id : correlationOf(change.after.latest);
}
