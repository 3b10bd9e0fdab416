import { correlationOf, type IncomeEvent } from "../event/events.ts";
import type { Receipts } from "../event/receipts.ts";
import type { Document, DocumentStorage } from "../fetch/document.ts";
import type { AccountReadiness, UserReadiness } from "../readiness/stored-readiness.ts";
import type { State } from "./state.ts";

/**
 * One change in the table, as its stream reports it. `countBefore` is the event's number of receipts before
 * it.
 */
export type Change =
  | {
      readonly type: "event";
      readonly event: IncomeEvent;
      readonly receipts: Receipts;
      readonly countBefore: number;
    }
  | { readonly type: "state"; readonly before: State | undefined; readonly after: State }
  | {
      readonly type: "document";
      readonly before: Document | undefined;
      readonly after: Document;
      /** Where its data is stored; absent if not needed. */
      readonly storage?: DocumentStorage | undefined;
    }
  | {
      readonly type: "readiness";
      readonly before: AccountReadiness | undefined;
      readonly after: AccountReadiness;
    }
  | {
      readonly type: "userReadiness";
      readonly before: UserReadiness | undefined;
      readonly after: UserReadiness;
    };

/**
 * When the webhook was received that a change reports, in milliseconds since 1970; undefined for changes that
 * no webhook reported.
 */
export function receivedAtOfChange(change: Change): number | undefined {
  switch (change.type) {
    case "event":
      return change.event.reconciled ? undefined : change.receipts.firstAt;
    case "state": {
      const { latest } = change.after;
      return latest.cause === "event" && !latest.event.reconciled
        ? Date.parse(latest.event.receivedAt)
        : undefined;
    }
    case "document":
    case "readiness":
    case "userReadiness":
      return undefined;
  }
}

/** The id of what caused a change; see `correlationOf`. */
export function correlationOfChange(change: Change): string | undefined {
  switch (change.type) {
    case "event":
      return change.event.id;
    case "state":
      return correlationOf(change.after.latest);
    case "document":
    case "readiness":
    case "userReadiness":
      return change.after.correlationId;
  }
}
