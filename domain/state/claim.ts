import { present } from "../core/parse.ts";
import type { IncomeEvent } from "../event/events.ts";

export type Claim = { readonly deleted: boolean; readonly connected?: boolean };

export function claimOf(event: IncomeEvent): Claim {
  switch (event.type) {
    case "account.connected":
    case "company-account.connected":
      return { deleted: false, connected: true };
    case "account.disconnected":
    case "company-account.disconnected":
      return { deleted: false, connected: false };
    case "account.restored":
      return { deleted: false };
    case "user.deleted":
    case "account.deleted":
    case "company-account.deleted":
      return { deleted: true };
    case "account.created":
    case "company-account.created":
      // Creation precedes everything else in an account's life, so "not connected yet" contradicts nothing.
      return event.connected === true ? { deleted: false, connected: true } : { deleted: false };
    case "user.created":
    case "user.updated":
    case "account.updated":
    case "company-account.updated":
    case "endpoint.updated":
      return { deleted: false, ...present({ connected: event.connected }) };
  }
}
