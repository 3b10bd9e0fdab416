import { expect, it } from "vitest";
import { turnsIn } from "../../../../packages/cli/provider/provider-history.ts";

const entry = (second: number, code: string, fields: object) => ({
  ...{ timestamp: `2026-03-01T12:00:0${second}.000Z`, level: "INFO", code, ...fields },
});

it("lists the provider's history from the functions' logs, newest first, with the findings", () => {
  const turns = turnsIn([
    entry(1, "PROVIDER_DOWN", { function: "fetch/data" }),
    entry(2, "TASK_DONE", { function: "fetch/data" }),
    entry(3, "PROVIDER_BACK", { function: "refresh/token" }),
    entry(4, "TOKEN_REFUSED", { function: "refresh/token", reason: "the provider answered 401" }),
    entry(5, "RECONCILED", { function: "reconcile/users", listed: 3, missing: 1, drift: 1 }),
  ]);
  expect(turns).toEqual([
    {
      ...{ at: "2026-03-01T12:00:05.000Z", topic: "reconciliation", code: "RECONCILED" },
      ...{ by: "reconcile/users", counts: { listed: 3, missing: 1 } },
    },
    {
      ...{ at: "2026-03-01T12:00:04.000Z", topic: "token", code: "TOKEN_REFUSED", by: "refresh/token" },
      ...{ reason: "the provider answered 401", counts: {} },
    },
    {
      ...{ at: "2026-03-01T12:00:03.000Z", topic: "breaker", code: "PROVIDER_BACK" },
      ...{ by: "refresh/token", counts: {} },
    },
    {
      ...{ at: "2026-03-01T12:00:01.000Z", topic: "breaker", code: "PROVIDER_DOWN" },
      ...{ by: "fetch/data", counts: {} },
    },
  ]);
});
