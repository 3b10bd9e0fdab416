import { expect, it } from "vitest";
import { type EventFilter, selects } from "../../../domain/event/event-filter.ts";

const receivedAt = "2026-03-01T12:00:00.000Z";
const event = { id: "i", kind: "accounts", receivedAt, type: "account.connected", accountId: "a" } as const;

it.each<[EventFilter, boolean]>([
  [{}, true],
  [{ kind: "accounts", type: "account.connected" }, true],
  [{ kind: "users" }, false],
  [{ type: "account.*" }, true],
  [{ type: "account.created" }, false],
  [{ since: receivedAt }, true],
  [{ since: "2026-03-01T12:00:00.001Z" }, false],
  [{ until: "2026-03-01T12:00:00.001Z" }, true],
  [{ until: receivedAt }, false],
  [{ kind: "accounts", until: receivedAt }, false],
])("a filter %o selects: %s", (filter, selected) => {
  expect(selects(filter, event)).toBe(selected);
});
